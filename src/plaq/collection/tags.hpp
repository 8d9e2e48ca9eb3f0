// Which letter is which.
#pragma once

namespace plaq::elements::tag {

enum : int { message, element, notice, contribution, outcome, tally, verdict, failure, word };

}  // namespace plaq::elements::tag
