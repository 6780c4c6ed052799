package io.caravan.server.cli.migration;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.cli.ServerJvm;
import io.caravan.server.cli.migration.KilledMove.Step;
import io.caravan.server.cli.migration.KilledMove.Victim;
import io.caravan.server.protocol.resp.RespClient;
import io.caravan.testing.ChildProcess;
import io.caravan.testing.Eventually;
import io.caravan.testing.Rounds;
import io.caravan.testing.Seeds;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Moves a document through all kinds of storage, with 1,000 appends per second and a SIGKILL in each step. It is in
 * memory, fsynced, at another server, in an archive after the loss of the server, and back at the first server.
 */
@Timeout(value = 60, unit = TimeUnit.MINUTES)
class JourneyIT {
    private static final String SPACE = "trips/";
    private static final String NAME = SPACE + "1";
    private static final String SECOND = "second";
    private static final int APPENDS_A_SECOND = 1_000;
    private static final int SOME = 100;
    private static final int MOST_MILLIS = 150;
    private static final Pattern ARCHIVED_TO = Pattern.compile(".*\\$next, :([0-9]+),.*");

    @TempDir
    private Path directory;

    @Test
    @Tag("thorough")
    void documentHistoryStaysCompleteDespiteKills() {
        Seeds.forEach(Rounds.of(1, 2), seed -> {
            Path parent = directory.resolve("seed" + seed);
            String archive = "file:" + parent.resolve("archive");
            try (Home first = new Home(parent.resolve("first"));
                    Home second = new Home(parent.resolve(SECOND), "--archive", archive, "--archive-after", "1h");
                    NumberedWriter writer = new NumberedWriter(NAME, first.port(), APPENDS_A_SECOND)) {
                new Journey(new Random(seed), parent, archive, first, second, writer).run();
            }
        });
    }

    /** Moves one document through all steps of the journey. */
    private record Journey(Random random, Path parent, String archive, Home first, Home second, NumberedWriter writer) {

        void run() throws IOException, InterruptedException {
            inMemory();
            fsynced();
            move(first, second, Step.values());
            archivedAndLost();
            // Omits the {@code CONTINUE} step, because all values are copied after the fence.
            move(second, first, Step.FENCE, Step.REDIRECT);
            more("at the end");
            writer.close();
            assertThat(writer.problem()).isEmpty();
            assertThat(writer.port()).isEqualTo(first.port());
            List<String> all = IntStream.range(0, (int) writer.acknowledged())
                    .mapToObj(i -> "$v" + i)
                    .toList();
            assertThat(first.call("LRANGE", NAME, "0", "-1")).isEqualTo(all.toString());
            assertThat(first.call("CARAVAN.INFO", NAME)).contains("$first, :0, ");
        }

        /** Kills the in-memory document's server. Only the last appends may be lost, none before a surviving one. */
        private void inMemory() throws IOException, InterruptedException {
            writer.mayLoseFrom(0);
            assertThat(first.call("CARAVAN.SPACE", "SET", SPACE, "durability", "memory"))
                    .contains("$effective-durability, $memory");
            writer.start();
            more("in memory");
            aMoment();
            first.killAndStartAgain();
            more("in memory again");
        }

        private void fsynced() throws IOException, InterruptedException {
            whileKilling(first, "CARAVAN.SPACE", "SET", SPACE, "durability", "sync");
            assertThat(first.call("CARAVAN.SPACE", "SET", SPACE, "durability", "sync"))
                    .contains("$effective-durability, $sync");
            // Appends that were acknowledged before the reply to the command must also survive.
            writer.mayLoseNothing();
            first.killAndStartAgain();
            more("forced");
        }

        private void move(Home from, Home to, Step... steps) throws IOException, InterruptedException {
            Step step = steps[random.nextInt(steps.length)];
            Victim victim = Victim.values()[random.nextInt(Victim.values().length)];
            try (KilledMove move = new KilledMove(from, to, NAME, writer, parent.resolve("move.txt"))) {
                move.run(step, random.nextBoolean(), victim);
            }
            more("moved");
            assertThat(writer.port()).isEqualTo(to.port());
        }

        /** Archives the document and restores it after a host loss. Only appends after the archiving may be lost. */
        private void archivedAndLost() throws IOException, InterruptedException {
            whileKilling(second, "CARAVAN.ARCHIVE", NAME);
            long archived = archivedTo();
            more("since");
            writer.mayLoseFrom(archived);
            second.kill();
            Path data = parent.resolve(SECOND);
            Files.move(data, parent.resolve("lost"));
            ChildProcess killed = restore(data);
            aMoment();
            killed.kill();
            assertThat(restore(data).awaitExit()).isZero();
            second.startAgain();
            more("restored");
            writer.mayLoseNothing();
        }

        /** Archives the document and returns the sequence after the last archived value. */
        private long archivedTo() {
            AtomicReference<String> reply = new AtomicReference<>("");
            Eventually.await("archived", () -> {
                try {
                    reply.set(second.call("CARAVAN.ARCHIVE", NAME));
                } catch (IOException starting) {
                    return false;
                }
                return reply.get().contains("$next, :");
            });
            Matcher next = ARCHIVED_TO.matcher(reply.get());
            assertThat(next.matches()).as(reply.get()).isTrue();
            return Long.parseLong(next.group(1));
        }

        private ChildProcess restore(Path data) throws IOException {
            return new ChildProcess(
                    ServerJvm.command("restore", "--archive", archive, "--data", data.toString()),
                    parent.resolve("restore.txt"));
        }

        /** Kills a server shortly after it receives a command, possibly before it replies. */
        private void whileKilling(Home home, String... command) throws IOException, InterruptedException {
            try (RespClient client = home.connect()) {
                Thread caller = new Thread(() -> {
                    try {
                        client.call(command);
                    } catch (IOException killed) {
                        // The kill is expected to break the connection.
                    }
                });
                caller.start();
                aMoment();
                home.kill();
                caller.join();
            }
            home.startAgain();
        }

        private void aMoment() {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(MOST_MILLIS)));
        }

        private void more(String what) {
            long before = writer.acknowledged();
            Eventually.await(
                    "more appends, " + what + " " + writer.problem(),
                    () -> writer.acknowledged() >= before + SOME
                            || !writer.problem().isEmpty());
            assertThat(writer.problem()).isEmpty();
        }
    }
}
