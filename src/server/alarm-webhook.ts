import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { Fault, messageOf } from "#core/fault.ts";
import { guardedFetch } from "#outgoing/guarded-fetch.ts";
import type { SendAlarm } from "#perf/alarms/send-alarms.ts";

const timeoutMs = 10_000;
const leastSecret = 16;

/** The address to which alarms are sent, and the file with the secret that signs them. */
interface AlarmWebhook {
  readonly url: URL;
  readonly secretFile: string;
}

/**
 * Returns how alarms are sent: POST of JSON, with `grange-signature: sha256=HEX`, the HMAC of the body by the secret.
 * Throws `Fault("invalid_argument")` when the secret cannot be read or is short.
 */
export function sendToAlarmWebhook({ url, secretFile }: AlarmWebhook): SendAlarm {
  const secret = readSecret(secretFile);
  const call = guardedFetch(() => [url.hostname]);
  return async ({ id, body }) => {
    const bytes = JSON.stringify(body);
    const signature = createHmac("sha256", secret).update(bytes).digest("hex");
    try {
      const answer = await call(url, {
        method: "POST",
        body: bytes,
        // A redirect is treated like any other answer: it may lead to any host.
        redirect: "manual",
        signal: AbortSignal.timeout(timeoutMs),
        headers: {
          "content-type": "application/json",
          "user-agent": "grange",
          "grange-alarm": id,
          "grange-signature": `sha256=${signature}`,
        },
      });
      await answer.body?.cancel();
      return answer.ok ? undefined : `it answered ${answer.status}`;
    } catch (reason) {
      return messageOf(reason);
    }
  };
}

function readSecret(file: string): string {
  let secret: string;
  try {
    secret = readFileSync(file, "utf8").trim();
  } catch (cause) {
    throw new Fault(
      "invalid_argument",
      `the secret of the alarm webhook cannot be read: ${messageOf(cause)}`,
      { cause },
    );
  }
  if (secret.length >= leastSecret) return secret;
  throw new Fault(
    "invalid_argument",
    `the secret of the alarm webhook in ${file} has fewer than ${leastSecret} characters: make one with \`openssl rand -hex 32\``,
  );
}
