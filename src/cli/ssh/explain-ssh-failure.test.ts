import { expect, test } from "vitest";
import { explainSshFailure } from "./explain-ssh-failure.ts";
import { parseSshHost } from "./ssh-host.ts";

const host = parseSshHost("me@attic");

/** The messages of OpenSSH 9. */
test.each([
  {
    said: "Host key verification failed.\r\n",
    explained: /does not know the host key of me@attic\. Connect once with ssh/,
  },
  {
    said: "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.\n",
    explained: /another machine may use its address.*ssh-keygen -R attic/,
  },
  {
    said: "me@attic: Permission denied (publickey).\n",
    explained: /does not accept this user.*--ssh-key/,
  },
  {
    said: "WARNING: UNPROTECTED PRIVATE KEY FILE!\nme@attic: Permission denied (publickey).\n",
    explained: /chmod 600/,
  },
  {
    said: "ssh: Could not resolve hostname attic: Name or service not known\n",
    explained: /the name attic is neither in DNS/,
  },
  {
    said: "ssh: connect to host attic port 22: Connection refused\n",
    explained: /no ssh server listens/,
  },
  {
    said: "ssh: connect to host attic port 22: No route to host\n",
    explained: /cannot be reached.*firewall/,
  },
  {
    said: "ssh: connect to host attic port 22: Connection timed out\n",
    explained: /cannot be reached.*firewall/,
  },
  {
    said: "command-line: line 0: Bad configuration option: nonsense\n",
    explained: /Check --ssh-option/,
  },
  { said: "Connection closed by 10.0.0.1 port 22\n", explained: /was lost; try again/ },
  { said: "something new\n", explained: /^ssh to me@attic failed: something new$/ },
  { said: "", explained: /it printed no reason/ },
])("explains $said", ({ said, explained }) => {
  expect(explainSshFailure(host, said)).toMatch(explained);
});

test("lets no escape sequence of the other machine through", () => {
  expect(explainSshFailure(host, "\u001b]0;owned\u0007 new\n")).not.toContain("\u001b");
});
