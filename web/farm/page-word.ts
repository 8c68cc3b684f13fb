import { SessionStanding } from "#api/session.ts";

/** What a page sends along with what it changes, to show that it is a page of the farm. */
export const wordHeader = "x-grange-csrf";

let asked: Promise<string | null> | undefined;

/** The word of the session; null when nobody is signed in. Asked for once, when something is first changed. */
export function pageWord(): Promise<string | null> {
  asked ??= ask();
  return asked;
}

/** Asks anew: somebody may have signed in or out in another tab. Whether it is another word now. */
export async function askForNewWord(): Promise<boolean> {
  const before = await pageWord();
  asked = ask();
  return (await asked) !== before;
}

async function ask(): Promise<string | null> {
  // A farm that does not answer will say so when it is asked for the change itself.
  const response = await fetch("/api/v1/session").catch(() => undefined);
  if (response?.ok !== true) return null;
  return SessionStanding.parse(await response.json()).csrf;
}
