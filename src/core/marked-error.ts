/**
 * The general rule for lines that a page of a log marks as errors, for logs of jobs without rules of their own. Each line
 * is judged alone, also in the middle of a log that was not read; `error-lines.ts` finds the few lines that explain a
 * failure, from the end of a log.
 *
 * A line is marked for a command of GitHub Actions (`##[error]`, `::error`), a word such as `error:`, `fatal error:`,
 * `TypeError:` or `error[E0308]:`, or `FAIL` and `FAILED` in capitals.
 *
 * It takes linear time, because each alternative begins with a fixed word and its repetitions are limited.
 */
export const errorLineSource = String.raw`^(?:##\[error\]|::error[ :])|(?:\b[Ee]rror|\b[Ff]atal|\b[Pp]anic|\bERROR|\bFATAL|Error|Exception)(?:\[[\w-]{1,32}\])?:|\bFAIL(?:ED|URE)?\b`;

const errorLine = new RegExp(errorLineSource);

/** The farm prints the commands of a job behind this, and a command may contain the words. */
export const commandStart = "$ ";

/** Returns whether a line without escape sequences reports an error, by the general rule. */
export function isErrorLine(text: string): boolean {
  return !text.startsWith(commandStart) && errorLine.test(text);
}
