import { expect, test } from "vitest";
import {
  showableArguments,
  showableDefinition,
  showableOptions,
  showableValue,
  showableVariables,
  withoutPasswords,
} from "./hide-secrets.ts";

test.each([
  ["--remote_header=authorization=Bearer abc", "--remote_header=authorization=[hidden]"],
  ["--bes_header=x-key=abc=def", "--bes_header=x-key=[hidden]"],
  ["--remote_cache_header=nonsense", "--remote_cache_header=[hidden]"],
  ["--action_env=GITHUB_TOKEN=abc", "--action_env=GITHUB_TOKEN=[hidden]"],
  ["--test_env=DB_PASSWORD=a=b", "--test_env=DB_PASSWORD=[hidden]"],
  ["--repo_env=my_Api_Key=a", "--repo_env=my_Api_Key=[hidden]"],
  ["--define=signing_secret=a\nb", "--define=signing_secret=[hidden]"],
  ["--my_flag_password=a", "--my_flag_password=[hidden]"],
  ["--//app:api_token=a", "--//app:api_token=[hidden]"],
  ["--@repo//app:config=PASSWORD=a", "--@repo//app:config=PASSWORD=[hidden]"],
  ["--test_env=DB_PASS=a", "--test_env=DB_PASS=[hidden]"],
  ["--action_env=GITHUB_PAT=a", "--action_env=GITHUB_PAT=[hidden]"],
  ["--action_env=SIGNING_KEY=a", "--action_env=SIGNING_KEY=[hidden]"],
  ["--repo_env=DB_PWD=a", "--repo_env=DB_PWD=[hidden]"],
  ["--remote_cache=https://joe:pw@cache.example/x", "--remote_cache=https://cache.example/x"],
])("hides what is secret in %s", (option, shown) => {
  expect(showableOptions([option])).toEqual([shown]);
});

test.each([
  "--jobs=4",
  "--action_env=PATH=/bin",
  "--action_env=GITHUB_TOKEN",
  "--define=author=ada",
  "--compilation_mode=opt",
  "-k",
  "--action_env=PWD=/home/ada",
  "--test_arg=--bypass=compass",
  "--define=keyboard=dvorak",
  "--@repo//app:mode=fast",
  "//app/...",
  "--bes_backend=grpc://127.0.0.1:80",
])("leaves %s as it is", (option) => {
  expect(showableOptions([option])).toEqual([option]);
});

test("leaves out what Bazel's client adds of itself, above all its environment", () => {
  const options = [
    "--client_env=AWS_SECRET=x",
    "--rc_source=/etc/bazelrc",
    "--isatty=1",
    "--jobs=4",
  ];

  expect(showableOptions(options)).toEqual(["--jobs=4"]);
});

test("hides a header that stands in a word of its own", () => {
  const options = ["--remote_header", "authorization=x", "--jobs=4"];

  expect(showableOptions(options)).toEqual(["--remote_header", "[hidden]", "--jobs=4"]);
});

test("hides a secret's value that stands in a word of its own", () => {
  const options = [
    "--test_env",
    "DB_PASSWORD=x",
    "--my_token",
    "y",
    "--use_auth",
    "--jobs=4",
    "//a",
  ];

  expect(showableOptions(options)).toEqual([
    "--test_env",
    "DB_PASSWORD=[hidden]",
    "--my_token",
    "[hidden]",
    "--use_auth",
    "--jobs=4",
    "//a",
  ]);
});

test("hides values by their names, and passwords in URLs", () => {
  expect(showableValue("NPM_TOKEN", "x")).toBe("[hidden]");
  expect(showableValue("NPM_TOKEN", "")).toBe("");
  expect(showableValue("REPO", "ssh://git:pw@host/x")).toBe("ssh://host/x");
  expect(withoutPasswords("a http://u:p@h and https://t@h/x?y=a@b")).toBe(
    "a http://h and https://h/x?y=a@b",
  );
});

test("variables are shown by their names, and those of secrets without values", () => {
  expect(
    showableVariables({ NPM_TOKEN: "npm_SECRET", LANG: "C", EMPTY_SECRET: "", PWD: "/w" }),
  ).toEqual({ NPM_TOKEN: "[hidden]", LANG: "C", EMPTY_SECRET: "", PWD: "/w" });
});

test("a command keeps all of its words, apart from values of secrets", () => {
  expect(
    showableArguments(["tool", "--token", "abc", "--api-key=abc", "-k", "x", "--client_env=A=b"]),
  ).toEqual(["tool", "--token", "[hidden]", "--api-key=[hidden]", "-k", "x", "--client_env=A=b"]);
});

test("a definition is shown without the values of secret variables, wherever it has an environment", () => {
  const definition = {
    commands: ["echo $NPM_TOKEN"],
    environment: { NPM_TOKEN: "abc", CI: 1, MY_SECRET: null },
    secrets: ["npm-token"],
  };

  expect(showableDefinition(definition)).toEqual({
    ...definition,
    environment: { NPM_TOKEN: "[hidden]", CI: 1, MY_SECRET: null },
  });
  expect(showableDefinition("abc", ["environment", "NPM_TOKEN"])).toBe("[hidden]");
  expect(showableDefinition({ runs: [{ env: { API_KEY: "abc", A: "b" } }] })).toEqual({
    runs: [{ env: { API_KEY: "[hidden]", A: "b" } }],
  });
});
