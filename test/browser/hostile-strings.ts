import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { Page } from "playwright-core";
import { settled } from "./axe-findings.ts";

/** The variable that each script of the text would set. */
const mark = "grangeHostile";

/** Scripts in several disguises, escape sequences, marks that reverse text, and a very long word. */
export const hostileText = [
  `<script>window.${mark}=1</script>`,
  `<img src=x onerror="window.${mark}=2">`,
  `javascript:window.${mark}=3`,
  `"><svg onload=window.${mark}=4>`,
  "\u001b[31m\u001b]0;title\u0007\u001b]8;;javascript:alert(1)\u001b\\link\u001b]8;;\u001b\\",
  "\u202egpj.exe\u2066\u200f",
  "W".repeat(10_000),
].join(" ");

/**
 * The fields of answers that people, commits, programs or build tools write. The text that is added to a value depends
 * on nothing, so that equal names stay equal: a job is still found by the name that another job needs.
 */
const foreignFields: ReadonlySet<string> = new Set(
  `author subject message sentence advice title toolName version target targets mnemonic configuration worker
  principal submittedBy requestedBy setBy endedBy actor host user arguments branch label aborted description alarm
  parent benchmark collector machine note words error errors repository name job on url rev setName path
  environmentName program detail trouble quarantine line`.split(/\s+/),
);

/** Values that pages compute with: times, digests, ids, numbers and addresses of the farm. */
const computedValue =
  /^(?:|\d{4}-\d\d-\d\dT.*|[0-9a-f]{16,}|[0-9a-f-]{36}|[0-9a-f]{40,}\/\d+|[\d.]+|\/.*)$/;

/** Returns an answer of the farm in which each text that comes from outside is hostile. */
function withHostileTexts(answer: unknown, field = ""): unknown {
  if (typeof answer === "string")
    return foreignFields.has(field) && !computedValue.test(answer)
      ? `${answer} ${hostileText}`
      : answer;
  if (Array.isArray(answer)) return answer.map((each) => withHostileTexts(each, field));
  if (typeof answer !== "object" || answer === null) return answer;
  return Object.fromEntries(
    Object.entries(answer).map(([name, value]) => [name, withHostileTexts(value, name)]),
  );
}

interface HostileServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts a server that passes everything on to another, and makes the texts of its JSON and of its events hostile. */
export async function startHostileServer(target: string): Promise<HostileServer> {
  const ending = new AbortController();
  const server = createServer((request, response) => {
    const gone = AbortSignal.any([ending.signal, signalOfClose(response)]);
    // The page was closed, or the test is over.
    passOn(target, request, response, gone).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      ending.abort();
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

function signalOfClose(response: ServerResponse): AbortSignal {
  const closed = new AbortController();
  response.on("close", () => closed.abort());
  return closed.signal;
}

async function passOn(
  target: string,
  request: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const { method = "GET", url = "/" } = request;
  const lastEvent = request.headers["last-event-id"];
  // A page asks for what it was told of, by its hostile name, which the server behind does not know.
  const asked = url.replaceAll(encodeURIComponent(` ${hostileText}`), "");
  const answer = await fetch(`${target}${asked}`, {
    method,
    signal,
    headers: typeof lastEvent === "string" ? { "last-event-id": lastEvent } : {},
    ...(method === "GET" ? {} : { body: await text(request) }),
  });
  response.statusCode = answer.status;
  for (const [name, value] of answer.headers) {
    // `fetch` has decoded the body, and its length changes.
    if (!/^(content-length|content-encoding|transfer-encoding|connection)$/.test(name))
      response.setHeader(name, value);
  }
  const type = answer.headers.get("content-type") ?? "";
  if (type.includes("json")) response.end(JSON.stringify(withHostileTexts(await answer.json())));
  else if (type.includes("event-stream")) await passEventsOn(answer, response);
  else response.end(Buffer.from(await answer.arrayBuffer()));
}

async function passEventsOn(answer: Response, response: ServerResponse): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of answer.body ?? []) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) response.write(`${hostileEventLine(line)}\n`);
  }
  response.end();
}

function hostileEventLine(line: string): string {
  if (!line.startsWith("data: ")) return line;
  return `data: ${JSON.stringify(withHostileTexts(JSON.parse(line.slice("data: ".length))))}`;
}

interface HostileLook {
  /** Scripts that ran, and pages wider than their window; one line each. */
  readonly harm: readonly string[];
  /** Whether the page shows the text at all: if not, the look shows nothing. */
  readonly isShown: boolean;
}

/** Looks at a page of hostile texts when it has settled. */
export async function lookForHarm(page: Page): Promise<HostileLook> {
  await settled(page);
  const ran = Number(await page.evaluate(`window.${mark} ?? 0`));
  const wider = Number(await page.evaluate("document.documentElement.scrollWidth - innerWidth"));
  const isShown = Boolean(await page.evaluate(`document.body.textContent.includes("${mark}")`));
  const elements = Number(
    await page.evaluate(
      `document.querySelectorAll("[onerror], [onload], a[href^='javascript']").length`,
    ),
  );
  return {
    harm: [
      ...(ran === 0 ? [] : [`script ${ran} ran`]),
      ...(elements === 0 ? [] : [`${elements} elements were made from the text`]),
      ...(wider > 0 ? [`${wider} px wider than the window`] : []),
    ],
    isShown,
  };
}
