import { cp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { mavenInstallation, mavenNeed } from "../../support/needs/maven-need.ts";
import { runProgram } from "../../support/process.ts";
import { shortLived } from "../bazel-toolchains.ts";
import { countIn, hashOf, type ToolDriver } from "./tool-driver.ts";

const workspace = fileURLToPath(new URL("maven-workspace", import.meta.url));
const modules = ["one", "two"];

/** Maven's build cache extension, with Basic credentials: the token is the password. */
export const maven: ToolDriver = {
  name: "Maven",
  need: mavenNeed,
  readsWithoutToken: true,
  prepare: (dir) => cp(workspace, dir, { recursive: true }),
  async build(dir, cache, token) {
    for (const made of ["local-cache", ...modules.map((name) => `${name}/target`)])
      await rm(join(dir, made), { recursive: true, force: true });
    const server = `<id>farm</id><username>ci</username><password>${token}</password>`;
    const settings = `<settings><servers><server>${server}</server></servers></settings>\n`;
    await writeFile(join(dir, "settings.xml"), settings);
    const { program = "mvn", repository = "" } = mavenInstallation ?? {};
    const properties = {
      "maven.repo.local": repository,
      "maven.build.cache.location": join(dir, "local-cache"),
      "maven.build.cache.remote.enabled": "true",
      "maven.build.cache.remote.save.enabled": "true",
      "maven.build.cache.remote.server.id": "farm",
      "maven.build.cache.remote.url": `${cache}/maven`,
    };
    const args = [
      "--offline",
      "--batch-mode",
      "--settings=settings.xml",
      ...Object.entries(properties).map(([name, value]) => `-D${name}=${value}`),
      "package",
    ];
    const env = { MAVEN_OPTS: shortLived.join(" ") };
    const { code, stdout, stderr } = await runProgram(program, args, { cwd: dir, env });
    const hits = countIn(stdout, /Skipping plugin execution \(cached\): jar:jar/g);
    return {
      code,
      hits,
      misses: modules.length - hits,
      outputs: await hashOf(
        dir,
        modules.map((name) => `${name}/target/${name}-1.0.jar`),
      ),
      said: stdout + stderr,
    };
  },
};
