import { createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
import { isJobTokenShaped, leaseInToken, newJobToken } from "#access/job-tokens/job-token.ts";
import { credentialInHeader, tokenInHeader } from "#access/token-in-header.ts";
import { findErrorLines } from "#core/error-lines.ts";
import { TemplateEvaluator } from "#definitions/template-evaluator.ts";
import { indexLog } from "#server/logs/index-log.ts";
import { WrittenLog } from "#server/logs/log.fixture.ts";
import { searchLog } from "#server/logs/search-log.ts";
import { requesterAddress } from "#server/request-limits/requester-address.ts";
import { BrokenLaw, type FuzzTarget } from "./fuzz.ts";
import { jsonWords } from "./importer-targets.ts";

const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString();

/** What a server reads before it knows a caller, and what it does with logs and templates. */
export function farmTargets(): FuzzTarget[] {
  return [credentialTarget(), addressTarget(), logTarget(), templateTarget()];
}

function credentialTarget(): FuzzTarget {
  // The same key each time, so that a seed gives the same inputs. RFC 8410: an Ed25519 key in PKCS #8.
  const der = Buffer.concat([
    Buffer.from("302e020100300506032b657004220420", "hex"),
    Buffer.alloc(32, 1),
  ]);
  const privateKey = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const publicKey = createPublicKey(privateKey);
  const key = {
    id: "k",
    sign: (bytes: Uint8Array) => sign(null, bytes, privateKey),
    verify: (_: string, bytes: Uint8Array, signature: Uint8Array) =>
      verify(null, bytes, publicKey, signature),
  };
  const lease = { executionId: "0f6a9d0b-0000-4000-8000-000000000000", epoch: 7 };
  const jobToken = newJobToken(key, lease);
  const token = `grange_${"a".repeat(43)}`;
  return {
    name: "headers with tokens",
    isSlow: true,
    seeds: [
      `Bearer ${token}`,
      `Basic ${Buffer.from(`u:${token}`).toString("base64")}`,
      `Bearer ${jobToken}`,
    ],
    words: ["Bearer ", "Basic ", " ", ":", "grange_", "grange_job_", "=", "\u0000", "A".repeat(64)],
    read(bytes) {
      const header = textOf(bytes);
      const credential = credentialInHeader(header);
      if (credential !== undefined && isJobTokenShaped(credential)) {
        const found = leaseInToken(key, credential);
        if (found !== undefined && JSON.stringify(found) !== JSON.stringify(lease))
          throw new BrokenLaw("a changed token names another lease");
        return found;
      }
      const found = tokenInHeader(header);
      if (!/^grange_[A-Za-z0-9_-]{43}$/.test(found)) throw new BrokenLaw(`${found} is no token`);
      return found;
    },
  };
}

function addressTarget(): FuzzTarget {
  return {
    name: "addresses of callers",
    seeds: ["192.0.2.1", "2001:db8::1", "::ffff:10.0.0.1", "1.1.1.1, 2.2.2.2", "::", "1::2::3"],
    words: [",", "::", ":", ".", "ffff", "%eth0", "[", "unknown", " "],
    read(bytes) {
      const text = textOf(bytes);
      const counted = requesterAddress("127.0.0.1", text);
      if (counted === "" || counted.length > 128) throw new BrokenLaw(`counted as ${counted}`);
      if (requesterAddress("192.0.2.9", text) !== "192.0.2.9")
        throw new BrokenLaw("a stranger chooses its own address");
      return [counted, requesterAddress(text, undefined)].map((address) => address.split(":"));
    },
  };
}

function logTarget(): FuzzTarget {
  return {
    name: "the index and the search of a log",
    isSlow: true,
    seeds: [
      "one\nerror: two\n\u001b[31mthree\u001b[0m\n",
      "[grange: note]\n##[group]a\nx\n##[endgroup]\nFAILED b",
      "$ make\ngcc: fatal error: c\nmake: *** [d] Error 1\n",
    ],
    words: [
      "\n",
      "\r",
      "error",
      "\u001b[1m",
      "\u001b]8;;",
      "\u0007",
      "[grange: ",
      "##[group]",
      "ä",
      "\u0000",
    ],
    async read(bytes) {
      const log = new WrittenLog("");
      log.bytes = Buffer.from(bytes);
      const { index } = await indexLog(log.read, undefined);
      const lines = log.bytes.toString("latin1").split("\n");
      const count = lines.at(-1) === "" ? lines.length - 1 : lines.length;
      if (index.lines !== count) throw new BrokenLaw(`${index.lines} lines of ${count}`);
      const found = [];
      for (const text of ["error", "ä", undefined]) {
        const { lines: numbers } = await searchLog(log.read, [0, 0], { text, from: 1, most: 50 });
        if (numbers.some((line, at) => line < 1 || line > count || line <= (numbers[at - 1] ?? 0)))
          throw new BrokenLaw(`search of ${text}: ${numbers.join(" ")}`);
        found.push(numbers);
      }
      const errors = findErrorLines(textOf(bytes).split("\n"));
      return [index, found, errors];
    },
  };
}

function templateTarget(): FuzzTarget {
  const evaluator = new TemplateEvaluator();
  const job = { command: ["make", { $eval: "os" }], when: "os == 'linux'" };
  return {
    name: "templates of jobs (JSON-e)",
    isSlow: true,
    seeds: [
      `{"build":${JSON.stringify(job)},"test":{"$if":"n > 1","then":{"command":"x"},"else":{}}}`,
      JSON.stringify({ $merge: { $map: { $eval: "list" }, "each(x)": { "a-${x}": job } } }),
      JSON.stringify({ a: { $let: { y: { $eval: "n * 2" } }, in: "${y} and ${len(list)}" } }),
      JSON.stringify({ a: { $switch: { "os in list": 1, $default: { $json: { $eval: "os" } } } } }),
    ],
    words: [
      ...jsonWords,
      "${",
      "$eval",
      "$if",
      "$map",
      "$merge",
      "$let",
      "each(x)",
      " in ",
      "list[",
      "split(",
      "constructor",
      " ** ",
      "$reverse",
      "$sort",
    ],
    refusals: [SyntaxError],
    async read(bytes) {
      const jobs: unknown = JSON.parse(textOf(bytes));
      const { problems, jobs: made } = await evaluator.evaluate({
        files: [{ file: "a.yml", jobs }],
        context: { os: "linux", n: 3, list: ["a", "b"] },
      });
      // What a template throws is a sentence about it, and no fault of the evaluator.
      const fault = problems.find(({ message }) =>
        /is not a function|Cannot read|undefined \(/.test(message),
      );
      if (fault !== undefined) throw new BrokenLaw(fault.message);
      return [problems.map(({ message }) => message.replaceAll(/\d+/g, "0")), made];
    },
    end: () => evaluator.stop(),
  };
}
