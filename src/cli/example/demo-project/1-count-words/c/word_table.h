#ifndef WORD_TABLE_H
#define WORD_TABLE_H

#include <stddef.h>

/* A hash table from words to their counts: open addressing with linear probing. */
struct word_table;

struct word_entry {
  char *word;
  unsigned long count;
};

/* Returns an empty table, or NULL when there is no memory. */
struct word_table *word_table_new(void);
void word_table_free(struct word_table *table);

/* Counts a word once more; its ASCII letters become small. Returns 0, or -1 when there is no memory. */
int word_table_add(struct word_table *table, const char *word, size_t length);

size_t word_table_size(const struct word_table *table);

/* How often a place of the table was looked at. */
unsigned long word_table_probes(const struct word_table *table);

/* Fills entries, which has room for word_table_size of them, sorted by their words. */
void word_table_sorted(const struct word_table *table, struct word_entry *entries);

#endif
