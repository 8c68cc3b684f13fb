/** The kernel's accounting of a command and the processes that it waited for. */
export interface Usage {
  /** 128 + the signal that ended it, as in shells. */
  readonly exitCode: number;
  readonly wallSeconds: number | undefined;
  readonly userSeconds: number;
  readonly systemSeconds: number;
  readonly maxRssBytes: number | undefined;
}

/**
 * A small program that runs a command and writes its resource usage to file 3.
 *
 * Node cannot do this: it has no wait4, and its children inherit its own peak of memory (docs/decisions/0032).
 */
export interface Meter {
  readonly name: "perl" | "time" | "bash";
  readonly commandLine: (argv: readonly string[]) => string[];
  /** Undefined: the text is not a report. */
  readonly read: (report: string) => Usage | undefined;
}

/** The numbers of getrusage and clock_gettime, by Node's name of the architecture. */
const callsOf: Readonly<Record<string, readonly [number, number]>> = {
  x64: [98, 228],
  arm64: [165, 113],
  riscv64: [165, 113],
};

/**
 * Calls by number, because perl-base, which every Debian has, lacks the modules. The report is closed when the command
 * starts, so that the command does not inherit it.
 */
const perlText = [
  'open(my $o, ">&=", 3) or exit 125; fcntl($o, 2, 1);',
  "my ($ru, $ck) = splice(@ARGV, 0, 2);",
  'sub now { my $b = "\\0" x 16; syscall($ck + 0, 1, $b); my ($s, $n) = unpack("q2", $b); $s * 1e9 + $n }',
  "my $t = now(); my $pid = fork; exit 125 unless defined $pid;",
  "if (!$pid) { exec { $ARGV[0] } @ARGV; exit 127 }",
  "waitpid($pid, 0); my $st = $?; $t = now() - $t;",
  'my $b = "\\0" x 144; syscall($ru + 0, -1, $b); my @r = unpack("q18", $b);',
  'printf $o "%d %d %d %d %d\\n", $st, $t, $r[0] * 1e6 + $r[1], $r[2] * 1e6 + $r[3], $r[4];',
  "exit($st & 127 ? 128 + ($st & 127) : $st >> 8);",
].join(" ");

/**
 * Returns the meters, the best first. Their precision: microseconds, hundredths of a second,
 * milliseconds without memory.
 */
export function metersFor(arch: string): Meter[] {
  const calls = callsOf[arch];
  const perl: Meter[] = calls
    ? [
        {
          name: "perl",
          commandLine: (argv) => ["perl", "-e", perlText, "--", ...calls.map(String), ...argv],
          read: readPerl,
        },
      ]
    : [];
  return [
    ...perl,
    {
      name: "time",
      // File 3 is a socket, which cannot be opened by its name.
      commandLine: (argv) => [
        "sh",
        "-c",
        'exec /usr/bin/time -q -f "%x %e %U %S %M" sh -c "$0" sh "$@" 4>&2 2>&3 3>&-',
        'exec "$@" 2>&4 4>&-',
        ...argv,
      ],
      read: readTime,
    },
    {
      name: "bash",
      commandLine: (argv) => [
        "bash",
        "-c",
        'TIMEFORMAT="%3R %3U %3S"; { time "$@" 2>&4 3>&-; } 4>&2 2>&3; s=$?; echo "$s" >&3; exit "$s"',
        "bash",
        ...argv,
      ],
      read: readBash,
    },
  ];
}

function readPerl(report: string): Usage | undefined {
  const [status, wallNs, userUs, systemUs, rssKb] = numbersIn(report, 5);
  if (rssKb === undefined) return undefined;
  const ended = status ?? 0;
  return {
    exitCode: ended & 127 ? 128 + (ended & 127) : ended >> 8,
    wallSeconds: (wallNs ?? 0) / 1e9,
    userSeconds: (userUs ?? 0) / 1e6,
    systemSeconds: (systemUs ?? 0) / 1e6,
    maxRssBytes: rssKb * 1024,
  };
}

function readTime(report: string): Usage | undefined {
  const [exitCode = 0, wall, user, system, rssKb] = numbersIn(report, 5);
  if (rssKb === undefined) return undefined;
  return {
    exitCode,
    // Hundredths of a second: the caller's clock is more precise.
    wallSeconds: wall === undefined ? undefined : wall,
    userSeconds: user ?? 0,
    systemSeconds: system ?? 0,
    maxRssBytes: rssKb * 1024,
  };
}

function readBash(report: string): Usage | undefined {
  const [wall, user, system, exitCode] = numbersIn(report, 4);
  if (exitCode === undefined) return undefined;
  return {
    exitCode,
    wallSeconds: wall,
    userSeconds: user ?? 0,
    systemSeconds: system ?? 0,
    maxRssBytes: undefined,
  };
}

/** Returns this number of numbers, or an empty list. */
function numbersIn(report: string, count: number): number[] {
  const words = report.trim().split(/\s+/);
  const numbers = words.map(Number);
  return numbers.length === count &&
    words.every((word) => word !== "") &&
    numbers.every((n) => Number.isFinite(n))
    ? numbers
    : [];
}
