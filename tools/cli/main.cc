// The command weir: its subcommands and their options.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/text.h"
#include "tools/cli/compare_command.h"
#include "tools/cli/exit_code.h"
#include "tools/cli/generate.h"
#include "tools/cli/list.h"
#include "tools/cli/replay_command.h"
#include "tools/cli/signals.h"
#include "tools/cli/write_text.h"
#include "tools/limits_json/printable.h"
#include "weir/registry.h"

namespace weir::cli {
namespace {

struct ListOptions {
  std::string algorithm;
  bool json = false;
};

constexpr char kInputHelp[] =
    "Each line of FILE is a call. FILE is CSV with a header (column time or "
    "time_us) or an\naccess log, plain or .gz; - is standard input.\n\n";

constexpr char kEmptyValue[] = "is \"\"; allowed: at least one character";

// No option means something by an empty value, which may be a variable of a
// script that was never set.
void RefuseEmptyValues(CLI::App* app) {
  const CLI::Validator check(
      [](const std::string& value) {
        return std::string(value.empty() ? kEmptyValue : "");
      },
      "");
  for (CLI::App* command : app->get_subcommands({})) {
    for (CLI::Option* option : command->get_options(
             [](const CLI::Option* o) { return o->get_expected_max() > 0; })) {
      option->check(check);
    }
  }
}

// CLI11 takes the next argument for the value of "--name=".
void RefuseEmptyAssignments(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    if (arg == "--") return;
    if (arg.substr(0, 2) == "--" && arg.find('=') == arg.size() - 1) {
      throw CLI::ValidationError(std::string(arg.substr(0, arg.size() - 1)),
                                 kEmptyValue);
    }
  }
}

// What replay and compare read, and how they show it.
void AddInput(CLI::App* command, InputOptions* o, bool* json, size_t* top,
              bool* ascii, const char* listed) {
  command->add_flag("--strict", o->strict, "Stop at the first malformed line");
  command->add_flag("--sort", o->sort,
                    "Decide in the order of time, not of the lines");
  command
      ->add_option("--sort-memory", o->sort_memory_mib,
                   "Memory for --sort; what does not fit goes to a temporary "
                   "file")
      ->type_name("MIB")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command->add_flag("--json", *json, "Write the report as JSON");
  command->add_option("--top", *top, listed)
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  command->add_flag("--ascii", *ascii, "No characters outside ASCII");
  command->add_option("FILE", o->files, "What to replay, in this order")
      ->required()
      ->type_name("");
}

void AddReplay(CLI::App* app, ReplayOptions* o) {
  CLI::App* command = app->add_subcommand(
      "replay",
      "Decide a log or a trace as these limits would have, and report what "
      "would have happened");
  command->footer(std::string(kInputHelp) + kExitCodesHelp);
  command->add_option("--limits", o->limits, "The rules (limits.json)")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("--decisions", o->decisions,
                   "Write each decision as a line of JSON; - is standard "
                   "output, the report then goes to standard error")
      ->type_name("FILE");
  command
      ->add_option("--store", o->store,
                   "Decide on this Redis (redis://HOST:PORT, ...) instead of "
                   "the embedded store")
      ->type_name("URL");
  command
      ->add_option("--namespace", o->name_space,
                   "What begins the keys on Redis, instead of a fresh name; "
                   "no key may begin so, and all are removed at the end")
      ->type_name("NAME");
  AddInput(command, &o->input, &o->json, &o->top, &o->ascii,
           "Denied keys listed for each rule");
}

void AddCompare(CLI::App* app, CompareOptions* o) {
  CLI::App* command = app->add_subcommand(
      "compare",
      "Decide one input by several limits side by side, each on an embedded "
      "store of its own, and show where they differ");
  command->footer(
      std::string("weir compare --limit 'gcra limit=10 window=60s' --limit "
                  "'sliding_log limit=10\nwindow=60s' access.log\n\n") +
      kInputHelp + kExitCodesHelp);
  // Each may stand several times, one value each.
  const auto several = [&](const char* name, std::vector<std::string>* values,
                           const char* what, const char* type) {
    command->add_option(name, *values, what)
        ->type_name(type)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        // Else each takes all that follows it, the files too.
        ->allow_extra_args(false);
  };
  several("--limits", &o->limits, "A limits.json as one of the limits", "FILE");
  several("--each", &o->each,
          "Each rule of this limits.json as one of the limits", "FILE");
  several("--limit", &o->typed,
          "One of the limits: an algorithm, then name=value as in limits.json",
          "TEXT");
  command
      ->add_option("--key", o->key,
                   "The key template of each --limit without one; default "
                   "{key}, or {client} where there is no such column")
      ->type_name("TEMPLATE");
  command
      ->add_option("--differences", o->differences,
                   "Write each call that is decided differently as a line of "
                   "JSON; - is standard output, the report then goes to "
                   "standard error")
      ->type_name("FILE");
  AddInput(command, &o->input, &o->json, &o->top, &o->ascii,
           "Keys and first calls listed");
}

void AddList(CLI::App* app, ListOptions* o) {
  CLI::App* command = app->add_subcommand(
      "list", "Show the algorithms, their parameters and what they promise");
  command->footer(kExitCodesHelp);
  command->add_option("--algorithm", o->algorithm, "Only this one")
      ->type_name("NAME");
  command->add_flag("--json", o->json, "Write it as JSON");
}

void AddGenerate(CLI::App* app, GenerateOptions* o) {
  CLI::App* command = app->add_subcommand(
      "generate", "Make a trace: the same options, the same bytes");
  command->footer(
      std::string("The trace goes to standard output, in the order of time: "
                  "clients that browse, a\nscraper, a burst and a storm of "
                  "retries.\n\n") +
      kExitCodesHelp);
  const auto number = [&](const char* name, auto* value, const char* what) {
    command->add_option(name, *value, what)
        ->type_name("N")
        ->capture_default_str();
  };
  number("--seed", &o->seed, "Another seed, another trace");
  number("--clients", &o->clients, "Clients that browse");
  number("--start", &o->start_s, "The first instant, Unix seconds");
  number("--duration", &o->duration_s, "Length in seconds");
  number("--rate", &o->rate_per_1000s, "Browsing calls in 1000 seconds");
  number("--lines", &o->max_lines, "Stop after so many lines; 0: do not");
  number("--scraper", &o->scraper_per_1000s,
         "Calls of the scraper in 1000 seconds; 0: no scraper");
  number("--burst", &o->burst_calls, "Calls of the burst; 0: no burst");
  number("--storm-clients", &o->storm_clients,
         "Clients in the storm of retries; 0: no storm");
  number("--storm-seconds", &o->storm_s, "How long they try again");
  command
      ->add_option_function<std::string>(
          "--format",
          [o](const std::string& name) {
            o->format = name == "log" ? TraceFormat::kLog : TraceFormat::kCsv;
          },
          "csv, or log: an access log in combined format")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"csv", "log"}));
}

ExitCode RunList(const ListOptions& options) {
  const Registry& registry = Registry::BuiltIn();
  const absl::StatusOr<std::string> text =
      options.json ? ListJson(registry, options.algorithm)
                   : ListText(registry, options.algorithm);
  const absl::Status status =
      text.ok() ? WriteText(*text, "the list", stdout) : text.status();
  return status.ok() ? kOk : Fail(status);
}

ExitCode RunGenerate(const GenerateOptions& options) {
  const absl::Status status = Generate(options, stdout);
  return status.ok() ? kOk : Fail(status);
}

// Where the command line ends the program: the help and the version, and
// wrong usage.
ExitCode EndParsing(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) {
    std::ostringstream text;
    app.exit(error, text);
    const absl::Status status = WriteText(text.str(), "the help", stdout);
    return status.ok() ? kOk : Fail(status);
  }
  const std::vector<CLI::App*> commands = app.get_subcommands();
  return Fail(
      InvalidArgument(Printable(error.what(), 500), "; weir ",
                      commands.empty() ? "" : commands[0]->get_name() + " ",
                      "--help says more"));
}

int Main(int argc, char** argv) {
  CLI::App app("weir: a rate limiter. Try limits on real traffic.", "weir");
  app.set_version_flag("--version", "weir " WEIR_VERSION);
  app.require_subcommand(1);
  app.footer(std::string("weir COMMAND --help says more of a command.\n\n") +
             kExitCodesHelp);
  ReplayOptions replay;
  CompareOptions compare;
  ListOptions list;
  GenerateOptions generate;
  AddReplay(&app, &replay);
  AddCompare(&app, &compare);
  AddList(&app, &list);
  AddGenerate(&app, &generate);
  RefuseEmptyValues(&app);
  try {
    RefuseEmptyAssignments(argc, argv);
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return EndParsing(app, error);
  }
  if (app.got_subcommand("replay")) return RunReplay(replay);
  if (app.got_subcommand("compare")) return RunCompare(compare);
  if (app.got_subcommand("list")) return RunList(list);
  return RunGenerate(generate);
}

}  // namespace
}  // namespace weir::cli

int main(int argc, char** argv) {
  weir::cli::HandleSignals();
  try {
    return weir::cli::Main(argc, argv);
  } catch (const std::bad_alloc&) {
    // What held a temporary file has removed it on the way here.
    return weir::cli::Fail(absl::ResourceExhaustedError(
        "out of memory: it grows with the different keys of the input"));
  }
}
