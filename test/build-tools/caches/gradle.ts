import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gradle as gradleNeed } from "../../support/needs/machine-needs.ts";
import { runProgram } from "../../support/process.ts";
import { shortLived } from "../bazel-toolchains.ts";
import { countIn, hashOf, type ToolDriver } from "./tool-driver.ts";

const names = ["one", "two", "three"];

const script = `
apply plugin: 'base'
@CacheableTask
class Make extends DefaultTask {
  @Input String text = ''
  @OutputFile File out
  @TaskAction void make() { out.parentFile.mkdirs(); out.text = text * 1000 }
}
${names.map((name) => `task ${name}(type: Make) { text = '${name}'; out = file("$buildDir/${name}.txt") }`).join("\n")}
task everything(dependsOn: [${names.join(", ")}])
`;

/** Gradle's HTTP cache, with Basic credentials: the token is the password. */
export const gradle: ToolDriver = {
  name: "Gradle",
  need: gradleNeed,
  prepare: (dir) => writeFile(join(dir, "build.gradle"), script),
  async build(dir, cache, token) {
    for (const made of ["build", ".gradle"])
      await rm(join(dir, made), { recursive: true, force: true });
    await writeFile(
      join(dir, "settings.gradle"),
      `rootProject.name = 'cached'
buildCache {
  local { enabled = false }
  remote(HttpBuildCache) {
    url = '${cache}/gradle/'
    push = true
    credentials { username = 'ci'; password = '${token}' }
  }
}
`,
    );
    const args = [
      "-g",
      join(dir, "home"),
      "--no-daemon",
      "--build-cache",
      "--console=plain",
      "everything",
    ];
    // Not as `org.gradle.jvmargs`: with these, Gradle builds in a second process.
    const env = { GRADLE_OPTS: shortLived.join(" ") };
    const { code, stdout, stderr } = await runProgram("gradle", args, { cwd: dir, env });
    const hits = countIn(stdout, / FROM-CACHE$/gm);
    return {
      code,
      hits,
      misses: names.length - hits,
      outputs: await hashOf(
        dir,
        names.map((name) => `build/${name}.txt`),
      ),
      said: stdout + stderr,
    };
  },
};
