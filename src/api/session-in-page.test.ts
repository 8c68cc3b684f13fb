import { expect, test } from "vitest";
import { SessionStanding } from "./session.ts";
import { withSession } from "./session-in-page.ts";

const stranger: SessionStanding = {
  session: null,
  over: null,
  problem: null,
  csrf: null,
  provider: null,
  isOpen: true,
  access: "open",
};

test("a session in the document is read as it was, and no text in it ends its element", () => {
  const problem = "</script><script>alert(1)</script> $& <!--";
  const standing = { ...stranger, problem };

  const written = withSession("<html><head><title>x</title></head><body></body></html>", standing);

  const [, data = ""] =
    /<script type="application\/json" id="session">(.*?)<\/script>/.exec(written) ?? [];
  expect(SessionStanding.parse(JSON.parse(data))).toEqual(standing);
  expect(written.match(/<\/?script/g)).toHaveLength(2);
  expect(written).toMatch(/<\/script><\/head><body><\/body><\/html>$/);
});
