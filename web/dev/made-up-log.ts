const esc = "\u001b";

/** A normal build log: colours, progress in one line, links. */
export function buildLog(job: string): string {
  const lines = [
    `${esc}[2m$${esc}[0m ${esc}[1mnpm run ${job}${esc}[0m`,
    "",
    `${esc}[36mvite v8.3.8${esc}[39m building for production...`,
    ...Array.from({ length: 30 }, (_, n) => `transforming (${n + 1}) src/room-${n}/file.ts`).map(
      (step, n) => (n === 29 ? step : `${step}\r`),
    ),
    `${esc}[32m✓${esc}[39m 1,204 modules transformed, see https://vite.dev/guide/build for more.`,
    `${esc}[33mwarning${esc}[0m: unused variable ${esc}[1m\`digest\`${esc}[0m`,
    `  ${esc}[38;5;39m-->${esc}[0m src/cas/verify.rs:${esc}[38;2;255;140;0m42${esc}[0m:9`,
    `${esc}[1;31merror${esc}[0m[E0308]: mismatched types: expected ${esc}[4mDigest${esc}[24m, found ${esc}[4mString${esc}[24m`,
    `${esc}[41;97m FAIL ${esc}[0m test/end-to-end/submit.test.ts ${esc}[2m(1 of 12)${esc}[0m`,
    `${esc}[42;30m PASS ${esc}[0m test/end-to-end/cache.test.ts ${esc}[2m412 ms${esc}[0m`,
  ];
  return `${lines.join("\n").replaceAll("\r\n", "\r")}\n`;
}

/** A long log with some colours. */
export function longLog(lines: number): string {
  const parts: string[] = [];
  for (let n = 1; n <= lines; n++) {
    parts.push(
      n % 1_000 === 0
        ? `${esc}[1;31merror${esc}[0m: case ${n} failed: expected 1, got 0\n`
        : n % 7 === 0
          ? `${esc}[32mok${esc}[0m ${n} - case ${n} ${esc}[2m(${n % 97} ms)${esc}[0m\n`
          : `ok ${n} - checks the granary's invariant number ${n}\n`,
    );
  }
  return parts.join("");
}

/** The log of an attacker. */
export const hostileLog = [
  "<script>document.title = 'owned'; window.owned = true</script>",
  '<img src=x onerror="window.owned = true">',
  `${esc}]8;;javascript:alert(1)${esc}\\click me${esc}]8;;${esc}\\ after the link`,
  `${esc}]52;c;cm0gLXJmIC8=\u0007clipboard untouched`,
  `${esc}]0;a new title\u0007title untouched`,
  "javascript:alert(1) is no link, https://example.com/ok is",
  "access \u202egnp.exe\u202c bidi marked",
  `bell \u0007 and null \u0000 shown`,
  `${esc}[2J${esc}[H${esc}[?1049hscreen untouched`,
  `${esc}]never ended, still shown`,
  `${`${esc}[31mx${esc}[0m`.repeat(5_000)}`,
  "last hostile line",
  "",
].join("\n");
