import { SessionStanding } from "#api/session.ts";
import { sessionInPage } from "./session-in-page.ts";

/** The header that a page sends with each change, to prove that it is a page of the farm. */
export const wordHeader = "x-grange-csrf";

let answer: Promise<string | null> | undefined;

/**
 * Returns the token of the session; null when no user is signed in. Where the document does not have it, it is requested
 * once, at the first change.
 */
export function pageWord(): Promise<string | null> {
  const known = sessionInPage();
  answer ??= known === undefined ? ask() : Promise.resolve(known.csrf);
  return answer;
}

/**
 * Requests the token again, because the user may have signed in or out in another tab. Returns whether the token has
 * changed.
 */
export async function askForNewWord(): Promise<boolean> {
  const before = await pageWord();
  answer = ask();
  return (await answer) !== before;
}

async function ask(): Promise<string | null> {
  // If the farm does not answer, the change itself will report this.
  const response = await fetch("/api/v1/session").catch(() => undefined);
  if (response?.ok !== true) return null;
  return SessionStanding.parse(await response.json()).csrf;
}
