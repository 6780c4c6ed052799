package io.caravan.server.cli.migration;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.cli.client.CommandRun;
import io.caravan.server.cli.client.Migrations;
import io.caravan.server.cli.client.ReconnectingClients;
import io.caravan.server.cli.migration.Importer.Existing;
import io.caravan.server.cli.migration.TrippedProxy.Trip;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * A round of random commands that migrate a few documents from one server to another. After each command, every
 * acknowledged value that no client has removed must be at one of the servers.
 */
final class MigrationRound {
    private static final String[] STEPS =
            "EXPORT WHOLE BEGIN ADD END CONTINUE DELETE FENCE REDIRECT ABANDON CARAVAN.READ INFO".split(" ");
    /** The padding that makes a value large. A document with four large values is sent in parts. */
    private static final String PADDING = ":" + "p".repeat(400_000);

    private final Random random;
    private final long seed;
    private final MigrationSide source;
    private final MigrationSide target;
    private final List<String> names;
    private final boolean large;
    private final Set<String> required = new LinkedHashSet<>();
    private final List<String> story = new ArrayList<>();
    private int values;
    private int command;
    private boolean quiet;
    /** Whether the current command may replace any document at the target. */
    private boolean replaces;

    MigrationRound(long seed, MigrationSide source, MigrationSide target) {
        this.seed = seed;
        this.random = new Random(seed);
        this.source = source;
        this.target = target;
        this.names =
                IntStream.range(0, 1 + random.nextInt(3)).mapToObj(this::name).toList();
        this.large = random.nextInt(6) == 0;
    }

    private String name(int number) {
        return "r" + seed + "/" + number;
    }

    void run() throws IOException {
        names.forEach(this::make);
        verify("it was made");
        int commands = 1 + random.nextInt(3);
        for (int i = 0; i < commands; i++) {
            command();
        }
        source.clear(names);
        target.clear(names);
    }

    /** Creates a document in a random state on each of the servers. */
    private void make(String name) {
        int kind = random.nextInt(10);
        story.add(name + " of kind " + kind);
        if (kind > 0) {
            append(source, name, 1 + random.nextInt(6));
        }
        switch (kind) {
            case 1 -> append(target, name, 1 + random.nextInt(6));
            case 2 -> {
                append(target, name, 1 + random.nextInt(6));
                trim(target, name);
            }
            case 3, 4, 5 -> ok("copy", name, "--server", source.address(), "--to", target.address());
            case 6 -> {
                ok("move", name, "--server", source.address(), "--to", target.address());
                ok("move", name, "--server", target.address(), "--to", source.address());
            }
            case 7 -> target.beginImport(name);
            default -> {}
        }
        if (kind == 4 || random.nextInt(3) == 0) {
            append(source, name, 1 + random.nextInt(3));
        }
        if (kind == 5) {
            append(target, name, 1 + random.nextInt(3));
        }
        if (random.nextInt(3) == 0) {
            trim(source, name);
        }
        if (random.nextInt(4) == 0) {
            trim(target, name);
        }
    }

    private static void ok(String... words) {
        CommandRun.at(null, words).exits(0);
    }

    private synchronized void append(MigrationSide side, String name, int count) {
        List<String> sent = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            // Some values are the same in all documents, so that different documents are partly equal.
            sent.add((random.nextInt(5) == 0 ? "same" : "v" + values++) + (large ? PADDING : ""));
        }
        boolean done = side.append(name, sent.toArray(String[]::new));
        story.add((done ? "appended " : "rejected ") + labels(sent) + " to " + name + at(side));
        if (done && !(replaces && side == target)) {
            required.addAll(labels(sent));
        }
    }

    private String at(MigrationSide side) {
        return side == source ? " at the source" : " at the target";
    }

    private static List<String> labels(List<String> values) {
        return values.stream().map(value -> value.split(":", 2)[0]).toList();
    }

    private synchronized void trim(MigrationSide side, String name) {
        List<String> there = labels(side.values(name));
        int count = random.nextInt(there.size() + 1);
        if (count > 0 && side.trim(name, count)) {
            story.add("trimmed " + there.subList(0, count) + " of " + name + at(side));
            required.removeAll(there.subList(0, count));
            if (side == target) {
                // If the target's document is a copy, the source still has the values.
                required.addAll(labels(source.values(name)));
            }
        }
    }

    private synchronized void delete(MigrationSide side, String name) {
        List<String> there = labels(side.values(name));
        if (side.delete(name)) {
            story.add("deleted " + there + " of " + name + at(side));
            required.removeAll(there);
        }
    }

    /** Restarts a server without one of its documents, as if restored from an older backup. */
    private synchronized void goBack(MigrationSide side) {
        String name = any();
        List<String> lost = labels(side.values(name));
        story.add("an older backup without " + name + at(side));
        if (!lost.isEmpty()) {
            side.restartWithout(List.of(name));
            MigrationSide other = side == source ? target : source;
            List<String> left = labels(other.values(name));
            required.removeIf(label -> lost.contains(label) && !left.contains(label));
        }
    }

    private String any() {
        return names.get(random.nextInt(names.size()));
    }

    private void command() throws IOException {
        quiet = random.nextInt(3) == 0;
        if (!quiet) {
            arm(source);
            arm(target);
        }
        Map<String, List<String>> before = contents(target);
        Map<String, List<String>> atSource = contents(source);
        List<String> ofSource = atSource.values().stream().flatMap(List::stream).toList();
        // Prefers files for large documents, because a truncated file may end between two parts of a document.
        int kind = large && random.nextBoolean() ? 7 : random.nextInt(8);
        Existing existing = kind < 3 ? Existing.REJECT : pick(Existing.values());
        replaces = kind > 2 && existing == Existing.REPLACE;
        int exitCode = switch (kind) {
            case 0, 1, 2 -> carry("move", List.of("--prefix", prefix()));
            case 3, 4 -> carry("copy", List.of("--prefix", prefix(), "--existing", existing.toString()));
            case 5, 6 -> follow(existing);
            default -> throughAFile(existing);
        };
        source.proxy.disarm();
        target.proxy.disarm();
        synchronized (this) {
            // Disarms the actions of this command that have not run yet.
            command++;
        }
        if (replaces) {
            allowReplaced(before, atSource);
        }
        replaces = false;
        verify("exit code " + exitCode);
        if (exitCode == 0 && quiet && existing != Existing.SKIP) {
            List<String> there =
                    contents(target).values().stream().flatMap(List::stream).toList();
            assertThat(there).as("documents that the command has copied").containsAll(ofSource);
        }
    }

    private <T> T pick(T[] of) {
        return of[random.nextInt(of.length)];
    }

    private String prefix() {
        return "r" + seed + "/";
    }

    private Map<String, List<String>> contents(MigrationSide side) {
        Map<String, List<String>> contents = new LinkedHashMap<>();
        names.forEach(name -> contents.put(name, labels(side.values(name))));
        return contents;
    }

    /**
     * Allows the loss of values that the command replaced as requested. The replacement must be complete: it has the
     * values that the source had before the command and still has.
     */
    private void allowReplaced(Map<String, List<String>> before, Map<String, List<String>> atSource) {
        Map<String, List<String>> atSourceNow = contents(source);
        contents(target).forEach((name, now) -> {
            List<String> was = before.get(name);
            List<String> whole = atSource.get(name).stream()
                    .filter(atSourceNow.get(name)::contains)
                    .toList();
            if (!now.containsAll(was)) {
                assertThat(now).as(name + " was " + was).containsAll(whole);
                required.removeAll(was.stream()
                        .filter(label -> !atSourceNow.get(name).contains(label))
                        .toList());
            }
        });
    }

    /** Schedules a random action for a random step of the command. */
    private void arm(MigrationSide side) {
        String step = pick(STEPS);
        boolean responded = random.nextBoolean();
        int action = random.nextInt(8);
        String name = any();
        story.add("at " + step + (responded ? " after the reply" : "") + at(side) + ": " + action + " " + name);
        int armedFor = command;
        side.proxy.arm(new Trip(step, responded, () -> {
            synchronized (this) {
                if (command != armedFor) {
                    return;
                }
                switch (action) {
                    case 0 -> source.restart();
                    case 1 -> target.restart();
                    case 2, 3 -> append(source, name, 1);
                    case 4 -> append(target, name, 1);
                    case 5 -> trim(source, name);
                    case 6 -> delete(source, name);
                    default -> side.proxy.cut();
                }
            }
        }));
    }

    private int carry(String command, List<String> options) {
        List<String> words =
                new ArrayList<>(List.of(command, "--server", source.proxy.address(), "--to", target.proxy.address()));
        words.addAll(options);
        if (command.equals("move")) {
            words.addAll(List.of("--redirect-to", target.address()));
        }
        return ran(CommandRun.with(Map.of(), new byte[0]), words.toArray(String[]::new));
    }

    private int ran(CommandRun run, String... words) {
        run.run(null, words);
        story.add(words[0] + " " + String.join(" ", Arrays.copyOfRange(words, 5, words.length)) + ": " + run.exitCode()
                + " " + run.err().replace('\n', ' '));
        assertThat(run.exitCode()).isIn(0, 1, 3);
        return run.exitCode();
    }

    private int throughAFile(Existing existing) {
        CommandRun export = CommandRun.with(Map.of(), new byte[0]);
        int exported =
                ran(export, "export", "--server", source.proxy.address(), "--timeout", "60", "--prefix", prefix());
        String file = export.out();
        boolean damaged = random.nextBoolean();
        String read = damaged ? file.substring(0, random.nextInt(Math.max(1, file.length()))) : file;
        quiet &= !damaged;
        story.add("a file of " + read.length() + " of " + file.length());
        int imported = ran(
                CommandRun.with(Map.of(), read.getBytes(UTF_8)),
                "import",
                "--server",
                target.proxy.address(),
                "--timeout",
                "60",
                "--existing",
                existing.toString());
        if (damaged || exported != 0) {
            assertThat(imported).isNotZero();
        }
        return Math.max(exported, imported);
    }

    private int follow(Existing existing) throws IOException {
        List<String> messages = new ArrayList<>();
        int exitCode;
        try (ReconnectingClients servers = new ReconnectingClients(
                List.of(
                        () -> Migrations.carrier(source.proxy.address()),
                        () -> Migrations.carrier(target.proxy.address())),
                TimeUnit.MINUTES.toNanos(10),
                messages::add)) {
            DocumentFollower follower =
                    new DocumentFollower(servers, existing, false, null, prefix().getBytes(UTF_8), messages::add);
            servers.run(follower::round);
            for (int i = random.nextInt(3); i > 0; i--) {
                change(follower, servers);
            }
            servers.run(follower::round);
            exitCode = follower.rejected() > 0 ? 3 : 0;
        } catch (RuntimeException failed) {
            messages.add(String.valueOf(failed.getMessage()));
            exitCode = 1;
        }
        story.add("follow " + existing + ": " + exitCode + " " + messages);
        return exitCode;
    }

    private void change(DocumentFollower follower, ReconnectingClients servers) throws IOException {
        int action = random.nextInt(6);
        switch (action) {
            case 0, 1 -> append(source, any(), 1);
            case 2 -> trim(source, any());
            case 3 -> delete(source, any());
            case 4 -> append(target, any(), 1);
            default -> goBack(source);
        }
        quiet = false;
        servers.run(follower::round);
    }

    private void verify(String when) {
        Set<String> there = new LinkedHashSet<>();
        contents(source).values().forEach(there::addAll);
        contents(target).values().forEach(there::addAll);
        assertThat(there).as("when " + when).containsAll(required);
    }

    @Override
    public String toString() {
        return String.join("\n  ", story);
    }
}
