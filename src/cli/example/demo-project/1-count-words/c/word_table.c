#include "word_table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Half of the places are empty at any time, so that searches are short. */
enum { first_places = 64 };

struct word_table {
  struct word_entry *places;
  size_t count_of_places;
  size_t size;
  unsigned long probes;
};

/* FNV-1a, 32 bits, over all bytes of the word. */
static uint32_t hash_of(const char *word) {
  uint32_t hash = 0x811c9dc5u;
  for (; *word != '\0'; word += 1) hash = (hash ^ (unsigned char)*word) * 0x01000193u;
  return hash;
}

struct word_table *word_table_new(void) {
  struct word_table *table = calloc(1, sizeof *table);
  if (table == NULL) return NULL;
  table->count_of_places = first_places;
  table->places = calloc(first_places, sizeof *table->places);
  if (table->places != NULL) return table;
  free(table);
  return NULL;
}

void word_table_free(struct word_table *table) {
  if (table == NULL) return;
  for (size_t place = 0; place < table->count_of_places; place += 1) free(table->places[place].word);
  free(table->places);
  free(table);
}

/* Finds the place where the word is, or the empty place where it belongs. */
static struct word_entry *place_of(struct word_table *table, const char *word) {
  size_t mask = table->count_of_places - 1;
  size_t place = hash_of(word) & mask;
  for (;;) {
    table->probes += 1;
    struct word_entry *entry = &table->places[place];
    if (entry->word == NULL || strcmp(entry->word, word) == 0) return entry;
    place = (place + 1) & mask;
  }
}

static int grow(struct word_table *table) {
  struct word_entry *before = table->places;
  size_t count_before = table->count_of_places;
  struct word_entry *places = calloc(2 * count_before, sizeof *places);
  if (places == NULL) return -1;
  table->places = places;
  table->count_of_places = 2 * count_before;
  for (size_t place = 0; place < count_before; place += 1) {
    if (before[place].word != NULL) *place_of(table, before[place].word) = before[place];
  }
  free(before);
  return 0;
}

int word_table_add(struct word_table *table, const char *word, size_t length) {
  if (2 * (table->size + 1) > table->count_of_places && grow(table) != 0) return -1;
  char *small = malloc(length + 1);
  if (small == NULL) return -1;
  for (size_t at = 0; at < length; at += 1) {
    int is_capital = word[at] >= 'A' && word[at] <= 'Z';
    small[at] = is_capital ? (char)(word[at] - 'A' + 'a') : word[at];
  }
  small[length] = '\0';
  struct word_entry *entry = place_of(table, small);
  if (entry->word == NULL) {
    entry->word = small;
    table->size += 1;
  } else {
    free(small);
  }
  entry->count += 1;
  return 0;
}

size_t word_table_size(const struct word_table *table) {
  return table->size;
}

unsigned long word_table_probes(const struct word_table *table) {
  return table->probes;
}

static int by_word(const void *one, const void *other) {
  return strcmp(((const struct word_entry *)one)->word, ((const struct word_entry *)other)->word);
}

void word_table_sorted(const struct word_table *table, struct word_entry *entries) {
  size_t filled = 0;
  for (size_t place = 0; place < table->count_of_places; place += 1) {
    if (table->places[place].word != NULL) entries[filled++] = table->places[place];
  }
  qsort(entries, filled, sizeof *entries, by_word);
}
