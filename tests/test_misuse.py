"""Programs that C++ has to refuse, with an explanation; each has a twin that compiles."""

import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CACHE = Path(os.environ.get("PLAQ_BUILD", ROOT / "build")) / "CMakeCache.txt"

HEADERS = """
#include <array>
#include <complex>
#include <functional>
#include <string>
#include <vector>
#include "plaq/base/random.hpp"
#include "plaq/collection/lease.hpp"
#include "plaq/collection/ref.hpp"
#include "plaq/comm/collectives/collectives.hpp"
#include "plaq/comm/messages/messenger.hpp"
#include "plaq/comm/wire/communicator.hpp"
#include "plaq/task/task.hpp"
"""
FRAME = """
using namespace plaq;
namespace case_{number} {{
{before}
void f(task::fiber::pool& pool, const comm::communicator& world, comm::collectives& together,
       comm::messenger& messages) {{
  (void)pool, (void)world, (void)together, (void)messages;
  {code}
}}
}}
"""
REF = "ref<int> a; a.make(1);"
COLLECTION = 'collection<double> c("c", world, pool, row_homes(box(2)), [](int) { return 1.0; });'
NUMBER = "auto number = pool.async(\"number\", [] { return 1; });"
# A back end of one's own, which needs a name.
BACK_END = """struct own : task::detail::standard_names {{
  struct pool : task::os::pool {{
    using backend = own;
    using task::os::pool::pool;
  }};
  {name}
}};"""
NAME = 'static std::string_view name() noexcept { return "own"; }'

# name, what compiles, what does not, words of the compiler's answer (GCC's and Clang's)
CASES = [
    ("a body takes another index", 'task::parallel_for(pool, "loop", 0, 9, [](int) {});',
     'task::parallel_for(pool, "loop", 0, 9, [](const char*) {});', "loop_body"),
    ("what a body returns is lost",
     'task::parallel_for(pool, "loop", 0, 9, [&](int) { pool.async("t", [] {}).get(); });',
     'task::parallel_for(pool, "loop", 0, 9, [&](int) { return pool.async("t", [] {}); });', "loop_body"),
    ("a loop counts", 'task::parallel_for(pool, "loop", 0l, 9l, [](long) {});',
     'task::parallel_for(pool, "loop", 0., 9., [](double) {});', "integral"),
    ("a loop runs on a pool", 'task::parallel_for(pool, "loop", 0, 9, [](int) {});',
     'task::parallel_for(world, "loop", 0, 9, [](int) {});', "task_pool"),
    ("a sum is of one type",
     'task::parallel_reduce(pool, "sum", 0, 9, 0., std::plus{}, [](int i) { return 0.5 * i; });',
     'task::parallel_reduce(pool, "sum", 0, 9, 0., std::plus{}, [](int i) { return std::to_string(i); });',
     "map_and_combine"),
    ("a result is a value", 'static int i; pool.async("task", []() -> int* { return &i; }).get();',
     'static int i; pool.async("task", []() -> int& { return i; }).get();', "return a pointer or a value"),
    ("a future has one owner", NUMBER + "auto other = std::move(number);", NUMBER + "auto other = number;",
     "deleted"),
    ("futures go into when_all", NUMBER + "task::when_all(std::move(number)).get();",
     NUMBER + "task::when_all(number).get();", "a future is used up"),
    ("dataflow gives the values", NUMBER + 'task::dataflow(pool, "next", [](int) {}, std::move(number)).get();',
     NUMBER + 'task::dataflow(pool, "next", [](task::future<int>) {}, std::move(number)).get();', "takes_results_of"),
    ("dataflow takes futures", NUMBER + 'task::dataflow(pool, "next", [](int) {}, std::move(number)).get();',
     'task::dataflow(pool, "next", [](int) {}, 7).get();', "after f come futures"),
    ("a promise is kept with its type", "task::promise<int>().set_value(3);", 'task::promise<int>().set_value("3");',
     "set_value takes a value of the promise's type"),
    ("nothing may be thrown between phases",
     "struct { void operator()() noexcept {} } end; task::barrier<task::fiber, decltype(end)> b(2, end);",
     "struct { void operator()() {} } end; task::barrier<task::fiber, decltype(end)> b(2, end);",
     "the completion of a phase must be noexcept"),
    ("a task's lock is a task's mutex",
     "task::mutex m; std::unique_lock lock(m); task::condition_variable().wait(lock, [] { return true; });",
     "std::mutex m; std::unique_lock lock(m); task::condition_variable().wait(lock, [] { return true; });",
     "std::unique_lock<task::mutex>"),
    ("a back end has a name", (BACK_END.format(name=NAME), "task::channel<own, int> c(1);"),
     (BACK_END.format(name=""), "task::channel<own, int> c(1);"), "Backend"),
    ("a message is bytes", "std::vector<double> v(3); messages.isend(v, 1).get();",
     "std::vector<std::string> v(3); messages.isend(v, 1).get();",
     "the argument is no buffer"),
    ("a buffer outlives the message", "std::vector<double> v(3); messages.isend(v, 1).get();",
     "messages.isend(std::vector<double>(3), 1).get();", "the argument is no lasting_buffer"),
    ("a pointer means nothing elsewhere", "messages.isend_object(std::string(), 1).get();",
     "messages.isend_object(static_cast<int*>(nullptr), 1).get();", "not packable"),
    ("sums have numbers that add up", "std::vector<double> v(3); together.all_reduce(v, comm::operation::sum);",
     "std::vector<std::string> v(3); together.all_reduce(v, comm::operation::sum);", "buffer"),
    ("a ref is used up", REF + 'auto b = work(pool, "task", [](int& x) { ++x; }, modify(std::move(a)));',
     REF + 'auto b = work(pool, "task", [](int& x) { ++x; }, modify(a));', "deleted"),
    ("a ref has one owner", REF + "auto b = std::move(a);", REF + "auto b = a;", "deleted"),
    ("who looks does not change", REF + 'auto b = work(pool, "task", [](const int&) {}, read(std::move(a)));',
     REF + 'auto b = work(pool, "task", [](int& x) { ++x; }, read(std::move(a)));', "const T& of read()"),
    ("access is not won back", REF + "auto b = std::move(a).with<access::read>();",
     REF + "auto b = std::move(a).with<access::read>().with<access::modify>();", "its own access or less"),
    ("who may look may not change", REF + "auto b = read(std::move(a).with<access::read>());",
     REF + "auto b = modify(std::move(a).with<access::read>());", "access::modify"),
    ("who hands on does not look", REF + "(void)a.get();",
     REF + "auto b = std::move(a).with<access::none>(); (void)b.get();",
     "may_read"),
    ("what is gone is not looked at", REF + "(void)a.get();", "(void)ref<int>().get();", "deleted"),
    ("a lease has one owner", "std::vector<double> u; auto a = from_mpi(u); auto b = std::move(a);",
     "std::vector<double> u; auto a = from_mpi(u); auto b = a;", "deleted"),
    ("an element can be packed", 'collection<double> c("c", world, pool, row_homes(box(2)), [](int) { return 1.0; });',
     'collection<double*> c("c", world, pool, row_homes(box(2)), [](int) { return nullptr; });', "serializable"),
    ("a step takes the element", COLLECTION + 'c.each("step", [](double& x) { x = 2; });',
     COLLECTION + 'c.each("step", [](std::string& x) { x = "2"; });',
     "a step is called as f(value, context) or f(value)"),
    ("a port is of one type",
     COLLECTION
     + 'auto by = c.make_port<int>("port"); c.each("step", [=](double&, auto& context) { context.send(by, 1, 2); });',
     COLLECTION
     + 'auto by = c.make_port<int>("port"); c.each("step", [=](double&, auto& context) { context.send(by, 1, "2"); });',
     "send"),
    ("a coroutine uses up a future", NUMBER + "[&]() -> task::lazy<int> { co_return co_await std::move(number); }();",
     NUMBER + "[&]() -> task::lazy<int> { co_return co_await number; }();", "co_await std::move(f)"),
    ("a coroutine is started as a task", 'pool.async("c", []() -> task::lazy<int> { co_return 1; }).get();',
     NUMBER + 'number.then(pool, "c", [](auto) -> task::lazy<int> { co_return 1; }).get();', "pool.async"),
    ("a sort compares", "std::vector<int> v(3); task::parallel_sort(pool, \"sort\", v, std::greater<>());",
     "std::vector<int> v(3); task::parallel_sort(pool, \"sort\", v, [](std::string, int) { return true; });",
     "sortable"),
    ("a scan combines", "std::vector<int> v(3); task::parallel_inclusive_scan(pool, \"scan\", v, v, std::plus<>());",
     "std::vector<int> v(3); task::parallel_inclusive_scan(pool, \"scan\", v, v, [](std::string, int) { return 1; });",
     "combines"),
    ("a stream has a name", "random_words({.seed = 7}, 0);", "random_words(std::uint64_t(7), 0);", "stream_id"),
]

# Lines of an answer, without those that name the headers between: these depend on what the program includes first.
SHORT = 13
INCLUDED = re.compile(r"^(In file included| +)from .*\n", re.M)

# Mistakes that are made often: name, code, words of the answer.
OFTEN = [
    ("a task has a name", "pool.async([] {});", 'the first argument is the name of the task: pool.async("name", f)'),
    ("a task has no arguments", 'pool.async("task", [](int) {}).get();', "a task is called without arguments"),
    ("a task has a stop token", 'pool.async("task", 3, [] {}).get();',
     "a name, perhaps a std::stop_token, and a function"),
    ("then gives the future", NUMBER + 'number.then(pool, "next", [](int) {}).get();',
     "a continuation is called with the future that is ready"),
    ("then takes a pool", NUMBER + "number.then([](auto) {}).get();", "the first argument is the pool"),
    ("then takes a name", NUMBER + "number.share().then(pool, [](auto) {}).get();",
     "the second argument is the name of the task"),
    ("one value is no range", "double x = 1; together.all_reduce(x, comm::operation::sum);",
     "one value x is passed as std::span(&x, 1)"),
    ("an operation of Open MPI's",
     "std::vector<double> v(3); struct op; op* MPI_SUM = nullptr; together.all_reduce(v, MPI_SUM);",
     "no argument is an operation for these values: comm::operation::sum"),
    ("an operation of MPICH's", "std::vector<double> v(3), s(3); together.reduce(v, s, 0x58000003);",
     "no argument is an operation for these values: comm::operation::sum"),
    ("a function of other values",
     "std::vector<double> v(3); together.inclusive_scan(v, [](std::string a, std::string) { return a; });",
     "no argument is an operation for these values"),
    ("a future's buffer is gone", "together.iall_reduce(std::vector<double>(3), comm::operation::sum).get();",
     "the argument is no lasting_buffer"),
    ("strings are no blocks", "std::vector<std::string> v(3), s(3); together.gather(v, s);",
     "the argument is no buffer"),
    ("a root is no buffer", "std::vector<double> v(3); together.gather(v, 2);", "the argument is no buffer"),
    ("a future's block is gone", "std::vector<double> v(3); together.iall_gather(v, std::vector<double>(9)).get();",
     "the argument is no lasting_buffer"),
    ("strings are not received", "std::vector<std::string> v(3); messages.irecv(v, 1).get();",
     "the argument is no buffer"),
    ("strings are no bytes", "std::vector<std::string> v(3); together.broadcast(v);",
     "the argument is no buffer"),
]

pytestmark = pytest.mark.skipif(not CACHE.exists(), reason="the C++ part was not configured here")


def source(number: int, code) -> str:
    before, code = code if isinstance(code, tuple) else ("", code)
    return FRAME.format(number=number, before=before, code=code)


@pytest.fixture(scope="module")
def compiler(tmp_path_factory):
    """Return compiler(program), which gives exit code and messages."""
    cache = dict(re.findall(r"^(\w+):\w+=(.*)$", CACHE.read_text(), re.M))
    folder = tmp_path_factory.mktemp("headers")
    (folder / "all.hpp").write_text(HEADERS)
    command = [cache["CMAKE_CXX_COMPILER"], "-std=c++20", "-x", "c++", f"-I{ROOT / 'src'}",
               f"-I{cache['RANDOM123_INCLUDE_DIR']}", f"-I{folder}", "-fdiagnostics-color=never"]
    # Headers once for all: GCC takes the .gch by itself, Clang reads them again.
    done = subprocess.run([*command[:2], "-x", "c++-header", *command[4:], folder / "all.hpp", "-o",
                           folder / "all.hpp.gch"], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr

    def compile_it(program: str):
        done = subprocess.run([*command, "-fsyntax-only", "-"], input='#include "all.hpp"\n' + program,
                              capture_output=True, text=True, timeout=100)
        return done.returncode, done.stderr

    return compile_it


def test_the_twins_compile(compiler):
    code, said = compiler("".join(source(number, good) for number, (_, good, _, _) in enumerate(CASES)))
    assert code == 0, said


def test_misuse_does_not_compile_and_is_explained_in_a_few_lines(compiler):
    cases = [(name, bad, words) for name, _, bad, words in CASES] + OFTEN
    with ThreadPoolExecutor(2) as two:
        answers = list(two.map(compiler, [source(0, bad) for _, bad, _ in cases]))
    wrong = {name: said for (name, _, words), (code, said) in zip(cases, answers, strict=True)
             if code == 0 or words not in said or len(INCLUDED.sub("", said).splitlines()) > SHORT}
    assert not wrong
