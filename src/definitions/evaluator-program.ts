/**
 * The program of the evaluator's process: fills the placeholders of job templates.
 *
 * It is text and not a module, because it must start in the same way from a bundle and from source. Its one argument is
 * the path of json-e.
 *
 * Jobs directly under `jobs` are rendered one by one, so that each faulty one is reported. Answers are JSON text:
 * structured cloning of untrusted values would cost this process more than the evaluator.
 */
export const evaluatorProgram = String.raw`
"use strict";
const vm = require("node:vm");
const render = require(process.argv[1]);

const isMap = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

// The template language fails on some incomplete expressions by an error of its own program.
function sentenceOf(error) {
  if (!(error instanceof TypeError)) return String(error.message);
  return "an expression cannot be parsed; check its operators and parentheses";
}

function segmentsOf(error) {
  return (error.location ?? []).map((part) => part.startsWith("[") ? Number(part.slice(1, -1)) : part.slice(1));
}

function* templatesOf(jobs) {
  const plain = isMap(jobs) && !Object.keys(jobs).some((key) => /^\$[a-zA-Z]/.test(key));
  if (plain) for (const key of Object.keys(jobs)) yield { [key]: jobs[key] };
  else yield jobs;
}

function evaluate({ files, context, mostJobs, mostBytes }) {
  const jobs = [];
  const problems = [];
  for (const { file, jobs: template } of files) {
    for (const part of templatesOf(template)) {
      let rendered;
      try {
        rendered = render(part, context);
      } catch (error) {
        problems.push({ file, path: ["jobs", ...segmentsOf(error)], message: sentenceOf(error) });
        continue;
      }
      if (!isMap(rendered)) {
        problems.push({ file, path: ["jobs"], message: "jobs must become a map from names to jobs; join lists of maps with $merge" });
        continue;
      }
      for (const name of Object.keys(rendered)) {
        const job = rendered[name];
        if (isMap(job) && typeof job.when === "string") {
          try {
            job.when = Boolean(render({ $if: job.when, then: true, else: false }, context));
          } catch (error) {
            problems.push({ file, path: ["jobs", name, "when"], message: sentenceOf(error) });
            continue;
          }
        }
        jobs.push({ file, name, job });
        if (jobs.length > mostJobs) {
          return { jobs: [], problems: [{ file, path: ["jobs"], message: "makes more than " + mostJobs.toLocaleString("en") + " jobs, the most that a graph can have; does a template multiply too much?" }] };
        }
      }
    }
  }
  return { jobs, problems };
}

// The timeout works even when the farm that sent the request is gone and no process ends this one.
process.on("message", (question) => {
  globalThis.work = () => JSON.stringify(evaluate(question));
  const file = question.files[0]?.file;
  const none = (message) => JSON.stringify({ jobs: [], problems: [{ file, path: ["jobs"], message }] });
  let text;
  try {
    text = vm.runInThisContext("work()", { timeout: question.mostMs });
    if (text.length > question.mostBytes) text = none("the jobs become too large when their templates are filled");
  } catch (error) {
    text = none("the templates need too much time or memory: " + error.message);
  }
  process.send({ number: question.number, text });
});
`;
