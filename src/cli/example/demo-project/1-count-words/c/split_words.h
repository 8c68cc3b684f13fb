#ifndef SPLIT_WORDS_H
#define SPLIT_WORDS_H

#include <stddef.h>

/*
 * Finds the next word of a text, beginning at *at. Returns its length, and sets *at to its first
 * byte; returns 0 when there is none. Letters and digits make words, and so does every byte beyond
 * ASCII.
 */
size_t next_word(const char *text, size_t length, size_t *at);

#endif
