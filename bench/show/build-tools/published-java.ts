import { cp, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { programs } from "../../../test/support/needs/program.ts";
import { runProgram } from "../../../test/support/process.ts";

/** A public library with 600 source files and 70,000 tests, which need no network and one JDK. */
export const library = "commons-collections4 4.4";

const artifact = "org.apache.commons:commons-collections4:4.4:jar";

/** What its tests are compiled with. */
const testLibraries = [
  "junit:junit:4.13.2",
  "org.hamcrest:hamcrest-core:1.3",
  "org.easymock:easymock:4.3",
  "org.objenesis:objenesis:3.3",
  "org.apache.commons:commons-lang3:3.18.0",
] as const;

/** A class that its authors leave out: the base of other tests. */
const notATest = "BulkTest";

/** Programs that fetch and unpack the sources. */
export const javaSourcesNeed = programs("sources of a public Java library", {
  programs: ["mvn", "javac", "jar"],
  packages: ["maven", "default-jdk-headless"],
});

/**
 * Fetches the library's published sources and tests with Maven, and lays them out as Maven and
 * Gradle expect it: `src/main`, `src/test`; archives of other libraries in `lib`.
 */
export async function fetchJavaProject(directory: string): Promise<void> {
  const fetched = join(directory, "fetched");
  await copyArtifact(`${artifact}:sources`, fetched);
  await copyArtifact(`${artifact}:test-sources`, fetched);
  for (const name of testLibraries) await copyArtifact(name, join(directory, "lib"));
  for (const archive of await readdir(fetched)) {
    const kind = archive.includes("test-sources") ? "test" : "main";
    const java = join(directory, "src", kind, "java");
    await mkdir(java, { recursive: true });
    await checked("jar", ["xf", join(fetched, archive)], java);
    await rm(join(java, "META-INF"), { recursive: true, force: true });
    await moveResources(java, join(directory, "src", kind, "resources"));
  }
  await rm(fetched, { recursive: true });
}

/** A second checkout of the same sources. */
export async function copyJavaProject(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const name of ["src", "lib"])
    await cp(join(from, name), join(to, name), { recursive: true });
}

async function copyArtifact(name: string, directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  const args = ["-q", "-B", "dependency:copy", `-Dartifact=${name}`];
  await checked("mvn", [...args, `-DoutputDirectory=${directory}`], directory);
}

/** Published source archives have resources beside the sources. */
async function moveResources(java: string, resources: string): Promise<void> {
  for (const entry of await readdir(java, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.name.endsWith(".java")) continue;
    const path = join(entry.parentPath, entry.name);
    const target = join(resources, path.slice(java.length));
    await mkdir(dirname(target), { recursive: true });
    await rename(path, target);
  }
}

async function checked(program: string, args: readonly string[], cwd: string): Promise<void> {
  const run = await runProgram(program, args, { cwd, env: {} });
  if (run.code !== 0)
    throw new Error(`${program} ended with ${run.code}: ${run.stdout}${run.stderr}`);
}

/** The file that Maven needs. */
export async function writePom(directory: string): Promise<void> {
  const dependencies = testLibraries.map((name) => {
    const [group, id, version] = name.split(":");
    return `    <dependency><groupId>${group}</groupId><artifactId>${id}</artifactId><version>${version}</version><scope>test</scope></dependency>`;
  });
  await writeFile(
    join(directory, "pom.xml"),
    `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.example.published</groupId>
  <artifactId>collections</artifactId>
  <version>1.0</version>
  <properties>
    <maven.compiler.source>8</maven.compiler.source>
    <maven.compiler.target>8</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
    <project.build.outputTimestamp>2020-01-01T00:00:00Z</project.build.outputTimestamp>
    <argLine>${testOptions.join(" ")}</argLine>
  </properties>
  <dependencies>
${dependencies.join("\n")}
  </dependencies>
  <build>
    <plugins>
      <plugin>
        <artifactId>maven-surefire-plugin</artifactId>
        <configuration><excludes><exclude>**/${notATest}.java</exclude></excludes></configuration>
      </plugin>
    </plugins>
  </build>
</project>
`,
  );
}

/** The files that Gradle needs; without a cache if none is given. */
export async function writeGradleFiles(
  directory: string,
  cache: string | undefined,
): Promise<void> {
  await writeFile(
    join(directory, "build.gradle"),
    `apply plugin: 'java'
dependencies { testCompile fileTree('lib') }
tasks.withType(JavaCompile) { options.encoding = 'UTF-8' }
sourceCompatibility = 8
test {
  include '**/*Test.class'
  exclude '**/${notATest}.class'
  jvmArgs ${testOptions.map((option) => `'${option}'`).join(", ")}
}
`,
  );
  const remote =
    cache === undefined
      ? ""
      : `buildCache {
  local { enabled = false }
  remote(HttpBuildCache) { url = '${cache}/gradle/'; push = true }
}
`;
  await writeFile(
    join(directory, "settings.gradle"),
    `rootProject.name = 'collections'\n${remote}`,
  );
}

/** The tests read private fields of the JDK, as they did before Java 16 forbade it. */
const testOptions = [
  "-Xmx2g",
  ...["java.base/java.util", "java.base/java.lang", "java.base/java.util.concurrent"].map(
    (name) => `--add-opens=${name}=ALL-UNNAMED`,
  ),
];
