// Which letter is which.
#pragma once

namespace plaq::elements::tag {

enum : int { message, element, notice, contribution, outcome, tally, verdict, failure, word, part };

}  // namespace plaq::elements::tag
