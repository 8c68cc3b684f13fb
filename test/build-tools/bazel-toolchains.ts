import { execFileSync } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** The directory of Bazel's rules in Debian's packages. */
const installed = "/usr/share/bazel";

const nativeRules = [
  "cc_binary",
  "cc_import",
  "cc_library",
  "cc_proto_library",
  "cc_test",
  "cc_toolchain",
  "cc_toolchain_suite",
  "fdo_prefetch_hints",
  "fdo_profile",
  "objc_library",
];

/**
 * The files that Bazel 4 needs to build without a network: its rule repositories from Debian's
 * packages, and replacements where Debian has none or one too new for this Bazel.
 */
export const toolchainFiles: Readonly<Record<string, string>> = {
  WORKSPACE: `workspace(name = "grange_sample")
local_repository(name = "rules_cc", path = "tools/rules_cc")
local_repository(name = "rules_java", path = "${installed}/rules/java")
local_repository(name = "rules_proto", path = "${installed}/rules/proto")
local_repository(name = "platforms", path = "${installed}/platforms")
local_repository(name = "bazel_skylib", path = "${installed}/tools/skylib")
local_repository(name = "remote_coverage_tools", path = "tools/coverage")
local_repository(name = "remote_java_tools_linux", path = "tools/java_tools")
`,
  "tools/rules_cc/WORKSPACE": 'workspace(name = "rules_cc")\n',
  "tools/rules_cc/cc/BUILD": 'package(default_visibility = ["//visibility:public"])\n',
  "tools/rules_cc/cc/defs.bzl": [
    ...nativeRules.map((rule) => `${rule} = native.${rule}`),
    "cc_toolchain_alias = native.cc_toolchain_alias",
    "",
  ].join("\n"),
  "tools/coverage/WORKSPACE": 'workspace(name = "remote_coverage_tools")\n',
  "tools/coverage/BUILD": `package(default_visibility = ["//visibility:public"])
filegroup(name = "coverage_report_generator", srcs = ["nothing.sh"])
filegroup(name = "coverage_output_generator", srcs = ["nothing.sh"])
`,
  "tools/coverage/nothing.sh": "#!/bin/sh\n",
  "tools/java_tools/WORKSPACE": 'workspace(name = "remote_java_tools_linux")\n',
  "tools/java_tools/BUILD": "",
  "tools/java/BUILD": `package(default_visibility = ["//visibility:public"])
java_toolchain(
    name = "toolchain",
    bootclasspath = [],
    forcibly_disable_header_compilation = True,
    genclass = ["SmallJavaBuilder.jar"],
    ijar = ["ijar.sh"],
    javabuilder = ["SmallJavaBuilder.jar"],
    javac_supports_workers = False,
    singlejar = ["singlejar.sh"],
    source_version = "17",
    target_version = "17",
)
`,
  "tools/java/ijar.sh": '#!/bin/sh\nexec cp "$1" "$2"\n',
  "tools/java/singlejar.sh": "#!/bin/sh\necho 'this sample makes no single jars' >&2\nexit 1\n",
};

/** Debian's Bazel does not include its program that compiles Java; this one has the functions that the sample needs. */
const javaBuilder = `import java.io.*;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;
import java.util.zip.*;
import javax.tools.*;

public class SmallJavaBuilder {
  public static void main(String[] given) throws Exception {
    List<String> words = new ArrayList<>();
    for (String word : given) {
      if (word.startsWith("@")) words.addAll(Files.readAllLines(Path.of(word.substring(1))));
      else words.add(word);
    }
    Map<String, List<String>> flags = new HashMap<>();
    List<String> values = new ArrayList<>();
    for (String word : words) {
      if (word.startsWith("--") && word.length() > 2) flags.put(word, values = new ArrayList<>());
      else values.add(word);
    }
    Path classes = Files.createTempDirectory(Path.of("."), "classes");
    List<String> options = new ArrayList<>(List.of("-d", classes.toString(), "-proc:none"));
    List<String> classPath = flags.getOrDefault("--classpath", List.of());
    if (!classPath.isEmpty()) options.addAll(List.of("-cp", String.join(":", classPath)));
    options.addAll(flags.getOrDefault("--sources", List.of()));
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    int code = compiler.run(null, System.out, System.err, options.toArray(new String[0]));
    if (code != 0) System.exit(code);
    for (var flag : flags.entrySet()) {
      if (!flag.getKey().contains("output")) continue;
      for (String path : flag.getValue()) {
        if (path.endsWith(".jar")) jar(Path.of(path), flag.getKey().equals("--output") ? classes : null);
        else Files.write(Path.of(path), new byte[0]);
      }
    }
  }

  // Sorted, with the same times: equal classes make an equal jar.
  static void jar(Path to, Path from) throws IOException {
    try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(to))) {
      entry(out, "META-INF/MANIFEST.MF", "Manifest-Version: 1.0\\r\\n\\r\\n".getBytes());
      if (from == null) return;
      List<Path> files;
      try (Stream<Path> all = Files.walk(from)) {
        files = all.filter(Files::isRegularFile).sorted().collect(Collectors.toList());
      }
      for (Path file : files) entry(out, from.relativize(file).toString(), Files.readAllBytes(file));
    }
  }

  static void entry(ZipOutputStream out, String name, byte[] content) throws IOException {
    ZipEntry entry = new ZipEntry(name);
    entry.setTimeLocal(java.time.LocalDateTime.of(2010, 1, 1, 0, 0));
    out.putNextEntry(entry);
    out.write(content);
    out.closeEntry();
  }
}
`;

/** Copies the parts of the toolchains that this machine has installed. */
export async function addInstalledParts(workspace: string): Promise<void> {
  for (const name of ["action_names.bzl", "cc_toolchain_config_lib.bzl"]) {
    await copyFile(`${installed}/rules/cc/cc/${name}`, join(workspace, "tools/rules_cc/cc", name));
  }
  const jar = join(workspace, "tools/java/SmallJavaBuilder.jar");
  await mkdir(dirname(jar), { recursive: true });
  builtOnce ??= javaBuilderJar();
  await writeFile(jar, await builtOnce);
}

/**
 * Flags for short Java processes: optimized compilation would take half of their CPU time, which they are too short to
 * regain.
 */
export const shortLived = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];

let builtOnce: Promise<Buffer> | undefined;

async function javaBuilderJar(): Promise<Buffer> {
  const work = await mkdtemp(join(tmpdir(), "grange-java-builder-"));
  const run = (program: string, ...args: string[]) =>
    execFileSync(program, [...shortLived.map((option) => `-J${option}`), ...args], {
      cwd: work,
      stdio: "ignore",
    });
  try {
    await writeFile(join(work, "SmallJavaBuilder.java"), javaBuilder);
    run("javac", "-d", ".", "SmallJavaBuilder.java");
    const args = ["--create", "--file", "builder.jar", "--main-class", "SmallJavaBuilder"];
    // With a fixed date, a second copy of the workspace has the same action keys.
    args.push("--date", "2010-01-01T00:00:00Z", "SmallJavaBuilder.class");
    run("jar", ...args);
    return await readFile(join(work, "builder.jar"));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Returns the JDK for Bazel: another JDK in the environment would change the action keys. */
export async function javaHome(): Promise<string> {
  const javac = execFileSync("sh", ["-c", "command -v javac"], { encoding: "utf8" }).trim();
  return dirname(dirname(await realpath(javac)));
}
