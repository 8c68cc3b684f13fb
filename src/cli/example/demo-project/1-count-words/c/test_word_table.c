/* Tests of the table; ends with 0 when all hold. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "word_table.h"

static int failures = 0;

static void check(int holds, const char *claim) {
  printf("%s %s\n", holds ? "ok" : "FAILED", claim);
  if (!holds) failures += 1;
}

int main(void) {
  struct word_table *table = word_table_new();
  word_table_add(table, "Rope", 4);
  word_table_add(table, "rope", 4);
  word_table_add(table, "box", 3);
  struct word_entry entries[2];
  word_table_sorted(table, entries);
  check(word_table_size(table) == 2, "capital and small letters are one word");
  check(strcmp(entries[0].word, "box") == 0, "entries are sorted by their words");
  check(entries[1].count == 2, "each word has its count");
  word_table_free(table);

  table = word_table_new();
  for (int n = 0; n < 20000; n += 1) {
    char word[16];
    int length = snprintf(word, sizeof word, "word%d", n % 5000);
    word_table_add(table, word, (size_t)length);
  }
  struct word_entry *many = calloc(word_table_size(table), sizeof *many);
  word_table_sorted(table, many);
  check(word_table_size(table) == 5000, "nothing is lost when the table grows");
  check(many[4999].count == 4, "counts are kept when the table grows");
  free(many);
  word_table_free(table);
  return failures == 0 ? 0 : 1;
}
