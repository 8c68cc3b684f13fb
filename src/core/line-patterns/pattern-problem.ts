import { RE2JSSyntaxException } from "re2js";
import { messageOf } from "../fault.ts";

/** Returns why the library refuses a pattern, with advice. */
export function problemOf(reason: unknown): string {
  if (!(reason instanceof RE2JSSyntaxException)) return messageOf(reason);
  const part = reason.input ?? "";
  if (/^\(\?<?[=!]/.test(part)) return "lookahead and lookbehind, such as (?=…), are not supported";
  // Its own words (RE2's) name the part, but not what to write instead.
  switch (reason.error) {
    case "invalid escape sequence":
      return escapeProblem(part);
    case "missing closing )":
      return 'a "(" is not closed; write \\( for the character';
    case "unexpected )":
      return 'a ")" closes nothing; write \\)';
    case "missing closing ]":
      return 'a "[" is not closed, or has nothing in it; write \\[ for the character';
    case "invalid character class range":
      return `${part} is no range in [ ]: its ends are in the wrong order, or not supported`;
    case "missing argument to repetition operator":
      return `"${part}" has nothing before it to repeat; write \\${part}`;
    case "invalid nested repetition operator":
      return `a repetition is repeated, ${part}; use a group`;
    case "invalid repeat count":
      return `${part} repeats something more than 1000 times, also counting those around it, or has its limits in the wrong order`;
    case "trailing backslash at end of expression":
      return "it ends with a backslash; write \\\\ for the character";
    case "invalid or unsupported Perl syntax":
      return `${part} is not supported; the flags are (?i), (?s), (?m) and (?U)`;
    case "invalid named capture":
      return `${part} is no name for a group; write (?<name>…)`;
    case "duplicate capture group name":
      return `two groups are named ${part}`;
    case "expression nests too deeply":
      return tooDeep;
    case "expression too large":
      return tooLarge;
    default:
      return messageOf(reason);
  }
}

export const tooDeep = "its groups are nested too deeply";
export const tooLarge = "its repetitions make it too large; repeat less often, or without a limit";

function escapeProblem(escape: string): string {
  return /^\\[1-9k]/.test(escape)
    ? `${escape} is a back reference, which is not supported`
    : `${escape} is not supported; for the character itself, omit the backslash`;
}
