#include "split_words.h"

static int is_letter(char sign) {
  unsigned char byte = (unsigned char)sign;
  return byte >= 0x80 || (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= 'a' && byte <= 'z');
}

/* The number of signs at a place that keep a word together: a single apostrophe. */
static size_t joining_signs(const char *text, size_t length, size_t at) {
  return at < length && text[at] == '\'' ? 1 : 0;
}

size_t next_word(const char *text, size_t length, size_t *at) {
  size_t begin = *at;
  while (begin < length && !is_letter(text[begin])) begin += 1;
  *at = begin;
  size_t end = begin;
  for (;;) {
    while (end < length && is_letter(text[end])) end += 1;
    size_t signs = end > begin ? joining_signs(text, length, end) : 0;
    if (signs == 0 || end + signs >= length || !is_letter(text[end + signs])) return end - begin;
    end += signs;
  }
}
