// Writes dist/sbom.cdx.json, the CycloneDX list of the packages that are part of Grange.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { npmCommand, root } from "./ensure-installed.mjs";

/** Throws an error with npm's output when npm cannot make the list. */
export function writeSoftwareBill() {
  const [npm = "npm", ...before] = npmCommand();
  const args = ["sbom", "--sbom-format", "cyclonedx", "--omit", "dev", "--package-lock-only"];
  const made = spawnSync(npm, [...before, ...args], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  if (made.status !== 0) throw new Error(`npm sbom failed:\n${made.stderr}`);
  const bill = JSON.parse(made.stdout);
  // npm takes names of directories for the project and its workspace, and no licence for the latter.
  const { component } = bill.metadata;
  component.name = "grange";
  for (const each of bill.components) {
    if (each.licenses === undefined && each["bom-ref"]?.startsWith("grange-bundle@"))
      Object.assign(each, { name: "grange-bundle", licenses: component.licenses });
  }
  writeFileSync(join(root, "dist", "sbom.cdx.json"), `${JSON.stringify(bill, null, 2)}\n`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) writeSoftwareBill();
