import pino from "pino";
import { expect, test } from "vitest";
import { FarmContact } from "./farm-contact.ts";

test("after an outage the log reports once that the farm answers again", () => {
  const said: string[] = [];
  const write = (line: string) => said.push(JSON.parse(line).msg);
  const contact = new FarmContact(pino({ level: "info" }, { write }));

  contact.answered();
  contact.failed(new Error("refused"), "the farm gives no work");
  contact.failed(new Error("refused"), "the heartbeats of this worker do not reach the farm");
  contact.answered();
  contact.answered();

  expect(said).toEqual([
    "the farm gives no work",
    "the heartbeats of this worker do not reach the farm",
    "the farm answers again",
  ]);
});
