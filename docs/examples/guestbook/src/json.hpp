#pragma once
#include <string>

/// Returns a text as a string of JSON, with its quotes.
std::string json_string(const std::string& text);
