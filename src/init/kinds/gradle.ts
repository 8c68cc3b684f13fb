import type { Kind } from "../kind.ts";
import type { StarterJob } from "../starter-job.ts";

const home = 'export GRADLE_USER_HOME="$PWD/.gradle-home"';

/** Gradle builds, with their wrapper if they have one. */
export const gradle: Kind = {
  name: "gradle",
  mark: /^(build|settings)\.gradle(\.kts)?$/,
  group: "jvm",
  recognise(project) {
    const wrapper = project.has("gradlew") && project.has("gradle/wrapper/gradle-wrapper.jar");
    const program = wrapper ? "sh ./gradlew" : "gradle";
    const fetch: StarterJob = {
      name: "gradle/wrapper",
      comment:
        "Downloads the Gradle that the wrapper names; runs again only when it names another.",
      commands: [home, "sh ./gradlew --no-daemon --version"],
      inputs: ["gradlew", "gradle/wrapper"],
      outputs: [".gradle-home/wrapper"],
      network: true,
    };
    return {
      found: `a Gradle build${wrapper ? ", and gradlew" : ""}`,
      jobs: [
        ...(wrapper ? [fetch] : []),
        {
          name: "gradle/test",
          commands: [home, `${program} --no-daemon --console=plain assemble test`],
          ...(wrapper ? { needs: ["gradle/wrapper"] } : {}),
          network: true,
        },
      ],
      tools: [
        ...(wrapper ? [] : [{ program: "gradle", package: "gradle" }]),
        { program: "javac", package: "default-jdk-headless" },
      ],
    };
  },
};
