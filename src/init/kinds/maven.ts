import type { Kind } from "../kind.ts";

/** Maven projects of one or of several modules. */
export const maven: Kind = {
  name: "maven",
  mark: /^pom\.xml$/,
  group: "jvm",
  recognise(project) {
    const hasModules = /<modules>/.test(project.text("pom.xml") ?? "");
    const wrapper = project.has("mvnw");
    const program = wrapper ? "sh ./mvnw" : "mvn";
    const home = wrapper ? ['export MAVEN_USER_HOME="$PWD/.maven"'] : [];
    const options = '-B -ntp -Dmaven.repo.local="$PWD/.maven/repository"';
    return {
      found: `pom.xml${hasModules ? " with modules" : ""}${wrapper ? ", and mvnw" : ""}`,
      jobs: [
        {
          name: "maven/dependencies",
          comment:
            "Runs again only when a pom.xml changes. It fetches what can be known from those alone.",
          commands: [...home, "mkdir -p .maven", `${program} ${options} -fn dependency:go-offline`],
          inputs: [
            "**/pom.xml",
            ...(project.hasDirectory(".mvn") ? [".mvn"] : []),
            ...project.existing("mvnw"),
          ],
          outputs: [".maven"],
          network: true,
        },
        {
          name: "maven/test",
          comment:
            "Needs the network, too: plugins fetch more while they run, such as the runner of the tests.",
          // Modules use each other's archives, which only `package` creates.
          commands: [...home, `${program} ${options} ${hasModules ? "package" : "test"}`],
          needs: ["maven/dependencies"],
          network: true,
        },
      ],
      tools: [
        ...(wrapper ? [] : [{ program: "mvn", package: "maven" }]),
        { program: "javac", package: "default-jdk-headless" },
      ],
    };
  },
};
