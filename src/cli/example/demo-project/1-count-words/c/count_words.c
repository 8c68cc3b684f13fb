/* count_words FILE: prints each word with its count, then how many probes the table took. */
#include <stdio.h>
#include <stdlib.h>

#include "split_words.h"
#include "word_table.h"

static char *read_file(const char *name, size_t *length) {
  FILE *file = fopen(name, "rb");
  if (file == NULL) return NULL;
  size_t room = 4096;
  char *text = malloc(room);
  *length = 0;
  while (text != NULL) {
    size_t read = fread(text + *length, 1, room - *length, file);
    *length += read;
    if (read == 0) break;
    if (*length == room) {
      room *= 2;
      char *larger = realloc(text, room);
      if (larger == NULL) free(text);
      text = larger;
    }
  }
  fclose(file);
  return text;
}

int main(int count, char **words) {
  if (count != 2) {
    fprintf(stderr, "Write: count_words FILE\n");
    return 2;
  }
  size_t length = 0;
  char *text = read_file(words[1], &length);
  struct word_table *table = word_table_new();
  if (text == NULL || table == NULL) {
    fprintf(stderr, "%s cannot be read\n", words[1]);
    return 1;
  }
  size_t at = 0;
  size_t found;
  while ((found = next_word(text, length, &at)) > 0) {
    if (word_table_add(table, text + at, found) != 0) return 1;
    at += found;
  }
  size_t size = word_table_size(table);
  struct word_entry *entries = calloc(size + 1, sizeof *entries);
  if (entries == NULL) return 1;
  word_table_sorted(table, entries);
  for (size_t n = 0; n < size; n += 1) printf("%lu\t%s\n", entries[n].count, entries[n].word);
  printf("probes: %lu\n", word_table_probes(table));
  free(entries);
  word_table_free(table);
  free(text);
  return 0;
}
