import { SessionStanding } from "#api/session.ts";
import { sessionElement } from "#api/session-in-page.ts";

/** The session that the server wrote into the document; undefined when it did not, as in development. */
export function sessionInPage(): SessionStanding | undefined {
  const text = document.getElementById(sessionElement)?.textContent;
  return text === undefined ? undefined : SessionStanding.parse(JSON.parse(text));
}
