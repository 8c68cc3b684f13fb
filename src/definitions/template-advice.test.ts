import { expect, test } from "vitest";
import { templateAdvice } from "./template-advice.ts";

const names = { parameters: ["level"], switches: ["nightly"] };

test.each([
  ["files", '; "commit" has sha, subject, author, and nothing else; values of "switches"'],
  ["nightyl", '; did you mean "nightly"?'],
  ["subjetc", '; did you mean "subject"?'],
])("of a property %s that no value has, it says what there is", (name, says) => {
  const advice = templateAdvice(`object has no property "${name}"`, names);

  expect(advice).toContain(`nothing declares "${name}"`);
  expect(advice).toContain(says);
});
