import type { SessionStanding } from "./session.ts";

/** The id of the element in which the server writes the browser's session into the document of the pages. */
export const sessionElement = "session";

/**
 * Returns the document of the pages with the browser's session in it, so that no page requests it.
 *
 * The element is data and no script: the content policy allows it, and `<` is escaped, so that no text ends it.
 */
export function withSession(document: string, standing: SessionStanding): string {
  const data = JSON.stringify(standing).replaceAll("<", "\\u003c");
  const element = `<script type="application/json" id="${sessionElement}">${data}</script>`;
  return document.replace("</head>", () => `${element}</head>`);
}
