/**
 * The documents of the site by group, as paths from the top of the repository. Decisions and papers are for people who
 * change Grange, and stay in the repository: they would be a third of the site.
 */
export const navigation = [
  { title: "Tutorial", documents: ["docs/tutorial.md"] },
  {
    title: "How to",
    documents: [
      "docs/init.md",
      "docs/graphs-of-jobs.md",
      "docs/build-tools.md",
      "docs/caches.md",
      "docs/granary.md",
      "docs/benchmarks.md",
      "docs/pages.md",
      "docs/logs.md",
      "docs/assistants.md",
      "docs/forge.md",
      "docs/deployment.md",
      "docs/workers.md",
      "docs/containers.md",
      "docs/services.md",
      "docs/autoscaling.md",
      "docs/object-storage.md",
      "docs/backup.md",
      "docs/retention.md",
      "docs/access.md",
      "docs/sign-in.md",
      "docs/tls.md",
      "docs/secrets.md",
      "docs/identity.md",
      "docs/demo.md",
    ],
  },
  {
    title: "Reference",
    documents: [
      "docs/definitions.md",
      "docs/commands.md",
      "docs/command-reference.md",
      "docs/settings.md",
      "docs/http-api.md",
      "GLOSSARY.md",
      "docs/licences.md",
      "CHANGELOG.md",
    ],
  },
  {
    title: "Explanations",
    documents: [
      "ARCHITECTURE.md",
      "docs/data.md",
      "docs/size-classes.md",
      "docs/size-class-traces.md",
      "docs/provenance.md",
      "docs/security.md",
    ],
  },
  {
    title: "If you know",
    documents: [
      "docs/if-you-know/README.md",
      "docs/if-you-know/github-actions.md",
      "docs/if-you-know/taskcluster.md",
      "docs/if-you-know/buildbarn.md",
      "docs/if-you-know/turborepo.md",
      "docs/if-you-know/dune.md",
      "docs/if-you-know/rustc-perf.md",
    ],
  },
  { title: "Change Grange", documents: ["CONTRIBUTING.md", "SECURITY.md"] },
];
