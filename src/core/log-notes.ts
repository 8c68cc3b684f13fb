/** The beginning of a line that the farm writes into a log. A job can print such lines, too. */
export const noteStart = "[grange: ";

/** The most notes of an index of a log. */
export const mostNotes = 10;

/** The longest note, in bytes. */
export const longestNote = 200;
