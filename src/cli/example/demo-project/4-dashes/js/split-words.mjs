/** Letters and digits; everything beyond ASCII counts as a letter. */
const letters = "[0-9A-Za-z\\u0080-\\uffff]+";

/** Letters, with a single apostrophe or hyphen between them: "don't" and "well-known" are one word each. */
const word = new RegExp(`${letters}(?:['-]${letters})*`, "g");

/** Returns the words of a line in small letters, in the order in which they stand there. */
export function splitWords(line) {
  return (line.match(word) ?? []).map(inSmallLetters);
}

/** ASCII only, as the C library does it: other letters would depend on the language. */
function inSmallLetters(text) {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
