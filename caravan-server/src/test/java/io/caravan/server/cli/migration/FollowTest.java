package io.caravan.server.cli.migration;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.ListStore;
import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.client.CommandRun;
import io.caravan.server.cli.client.Migrations;
import io.caravan.server.cli.client.ReconnectingClients;
import io.caravan.server.cli.client.ServedStore;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.migration.DocumentSync.RejectedException;
import io.caravan.server.cli.migration.Importer.Existing;
import io.caravan.server.cli.migration.TrippedProxy.Trip;
import io.caravan.testing.Eventually;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Transaction;
import redis.clients.jedis.commands.ProtocolCommand;
import redis.clients.jedis.exceptions.JedisDataException;

/** Tests continuous copies ({@code copy --follow}) and migrations ({@code move}) of documents. */
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
@Timeout(120)
class FollowTest {
    private static final ProtocolCommand TRIM = command("CARAVAN.TRIM");
    private static final ProtocolCommand READ = command("CARAVAN.READ");
    private static final ProtocolCommand SPACE = command("CARAVAN.SPACE");
    private static final ProtocolCommand MOVE = command("CARAVAN.MOVE");
    private static final ProtocolCommand IMPORT = command("CARAVAN.IMPORT");

    private final ListStore store = ListStore.inMemory();

    @AutoClose
    private final ServedStore from = new ServedStore(store, config -> config.withHttp(ServedStore.http()));

    @AutoClose
    private final ServedStore to = new ServedStore();

    private Jedis here;
    private Jedis there;
    private final List<Run> runs = new ArrayList<>();

    private static ProtocolCommand command(String name) {
        return () -> name.getBytes(UTF_8);
    }

    @BeforeEach
    void connect() {
        here = from.jedis();
        there = to.jedis();
    }

    @AfterEach
    void stop() throws InterruptedException {
        for (Run run : runs) {
            run.end();
        }
        here.close();
        there.close();
    }

    /** A {@code copy --follow} command that runs until the test ends it. */
    private final class Run extends Thread {
        private final CommandRun run = CommandRun.with(Map.of(), new byte[0]);
        private final String[] words;

        Run(String... words) {
            super("run");
            this.words = words;
            runs.add(this);
            start();
        }

        @Override
        public void run() {
            run.run(from.address(), words);
        }

        CommandRun end() throws InterruptedException {
            interrupt();
            join();
            return run;
        }
    }

    private Run follow(String address, String... more) {
        return new Run(CommandRun.words(List.of("copy", "--follow", "--to", address), more));
    }

    private CommandRun move(ServedStore source, ServedStore target, String... more) {
        return CommandRun.of(source, CommandRun.words(List.of("move", "--to", target.address()), more));
    }

    private void awaitSame() {
        Eventually.await("the same", () -> to.exported().equals(from.exported()));
    }

    @Test
    void followCopiesChangesUntilStopped() throws Exception {
        for (int i = 0; i < 20; i++) {
            here.rpush("d/" + i, "a", "b");
        }
        here.rpush("other", "x");
        for (int i = 0; i < 40; i++) {
            here.rpush("d/long".getBytes(UTF_8), new byte[60_000]);
        }
        Run run = follow(to.address(), "--prefix", "d/");
        Eventually.await("the first", () -> there.dbSize() == 21);

        here.rpush("d/1", "c", "");
        here.sendCommand(TRIM, "d/2", "TO", "1");
        here.sendCommand(TRIM, "d/3", "TO", "2");
        here.del("d/4");
        here.del("d/5");
        here.rpush("d/5", "anew");
        here.expire("d/6", 1000);
        here.rpush("d/new", "n");
        for (int i = 0; i < 40; i++) {
            here.rpush("d/long".getBytes(UTF_8), new byte[60_000], ("v" + i).getBytes(UTF_8));
        }
        here.sendCommand(TRIM, "d/long", "TO", "7");
        from.send("PUT", "d/json", "[1]", "Content-Type", "application/json", "Stream-TTL", "1000");
        from.send(
                "POST",
                "d/json",
                "[3]",
                "Content-Type",
                "application/json",
                "Producer-Id",
                "p",
                "Producer-Epoch",
                "2",
                "Producer-Seq",
                "0",
                "Stream-Closed",
                "true");
        here.del("other");
        awaitSame();
        CommandRun ended = run.end().exits(0);
        assertThat(ended.out()).startsWith("followed 22 documents: copied ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "--prefix="})
    void followContinuesShorterCopy(String what) throws Exception {
        there.rpush("a", "1");
        here.rpush("a", "1", "2");
        Run run = follow(to.address(), what);
        awaitSame();
        assertThat(run.end().exits(0).err()).doesNotContain("was not");
    }

    @Test
    void followContinuesEqualCopy() throws Exception {
        here.rpush("a", "1", "2");
        there.rpush("a", "1", "2");
        Run run = follow(to.address());
        here.rpush("b", "1");
        Eventually.await("the first round has ended", () -> there.llen("b") == 1);
        assertThat(there.lrange("a", 0, -1)).containsExactly("1", "2");
        here.rpush("a", "3");
        awaitSame();
        assertThat(run.end().exits(0).err()).isEmpty();
    }

    @Test
    void followReconnectsAfterServerRestart() throws Exception {
        here.rpush("a", "1");
        Run run = follow(to.address(), "a");
        awaitSame();
        to.stop();
        here.rpush("a", "2");
        Eventually.await("noticed", () -> run.run.err().contains("; trying again"));
        to.start();
        awaitSame();
        here.close();
        from.stop();
        from.start();
        connect();
        here.rpush("a", "3");
        awaitSame();
        run.end().exits(0, "connected again");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "--prefix="})
    void followDeletesNothingIfSourceStoreIsReplaced(String what) throws Exception {
        here.rpush("a", "1");
        Run run = follow(to.address(), what);
        awaitSame();
        restartWithout(() -> store.delete(1).join());
        run.join();
        assertThat(run.run.exitCode()).as(run.run.err()).isEqualTo(3);
        assertThat(run.run.err())
                .contains("document 'a' is missing: is it another store, or an older backup? Nothing was deleted");
        assertThat(there.lrange("a", 0, -1)).containsExactly("1");
    }

    /** A copy must not delete documents that its source lacks after a restore from an older backup. */
    @ParameterizedTest
    @ValueSource(strings = {"reject", "replace"})
    void followDeletesNothingIfSourceIsOlderBackup(String existing) throws Exception {
        here.rpush("a", "1");
        here.rpush("b", "1");
        here.rpush("c", "1");
        Run run = follow(to.address(), "--existing", existing);
        awaitSame();
        restartWithout(() -> store.delete(2).join());
        run.join();
        assertThat(run.run.exitCode()).isEqualTo(3);
        assertThat(run.run.err()).contains("document 'b' is missing: is it another store, or an older backup?");
        assertThat(there.lrange("b", 0, -1)).containsExactly("1");
    }

    private void restartWithout(Runnable change) throws IOException {
        int port = Integer.parseInt(from.httpPort());
        here.close();
        from.stop();
        change.run();
        from.start(port);
        connect();
    }

    /** A document that was replaced before the restart is no sign of another store, even if it was not copied. */
    @Test
    void followContinuesAfterRestartIfTargetHasRejectedReplacement() throws Exception {
        here.rpush("a", "1");
        Run run = follow(to.address());
        awaitSame();
        there.sendCommand(SPACE, "SET", "a", "max-value-bytes", "1");
        Transaction replacement = here.multi();
        replacement.del("a");
        replacement.rpush("a", "another");
        replacement.exec();
        Eventually.await("the limit is printed", () -> run.run.err().contains("max-value-bytes"));
        restartWithout(() -> {});
        here.rpush("b", "1");
        Eventually.await("b", () -> !run.isAlive() || there.llen("b") == 1);
        assertThat(run.end().exits(3).err()).doesNotContain("older backup");
        assertThat(there.lrange("b", 0, -1)).containsExactly("1");
    }

    @Test
    void followReportsForeignWriteAtTargetOnce() throws Exception {
        here.rpush("a", "1");
        here.rpush("b", "1");
        Run run = follow(to.address());
        awaitSame();
        there.rpush("a", "foreign");
        here.rpush("a", "2");
        here.rpush("b", "2");
        Eventually.await("b", () -> there.llen("b") == 2);
        Eventually.await("the problem is printed", () -> run.run.err().contains("document 'a' is not what was sent"));
        CommandRun ended = run.end();
        assertThat(ended.err().split("document 'a'", -1)).hasSize(2);
        assertThat(ended.exitCode()).isEqualTo(3);
        assertThat(there.lrange("a", 0, -1)).containsExactly("1", "foreign");
    }

    /** A continued copy must be compared too, even if only its space at the target has changed it. */
    @Test
    void followReportsContinuedCopyThatIsTrimmedOrRejected() throws Exception {
        there.sendCommand(SPACE, "SET", "a", "retain-values", "2");
        there.sendCommand(SPACE, "SET", "b", "max-bytes", "2");
        here.rpush("a", "1");
        here.rpush("b", "1");
        Run run = follow(to.address());
        awaitSame();
        here.rpush("a", "2", "3", "4");
        here.rpush("b", "2", "3");
        Eventually.await("the trim is printed", () -> run.run.err().contains("document 'a' is not what was sent"));
        Eventually.await("the limit is printed", () -> run.run.err().contains("document 'b' was not updated: "));
        assertThat(run.end().exits(3).err()).contains("max-bytes 2");
        assertThat(there.lrange("b", 0, -1)).containsExactly("1");
    }

    /** A copy must resume if the target has a prefix of the document, and reject or replace any other document. */
    @Test
    void followResumesCopyAndRejectsOrReplacesOtherDocument() throws Exception {
        here.rpush("a", "1", "2");
        CommandRun.of(from, "copy", "--to", to.address());
        here.rpush("a", "3");
        here.rpush("b", "1");
        there.rpush("b", "0");
        Run run = follow(to.address(), "a");
        awaitLength("a", 3);
        run.end();
        Run again = follow(to.address(), "b");
        Eventually.await("the problem is printed", () -> again.run.err().contains("there is another one of this name"));
        again.end().exits(3);
        follow(to.address(), "b", "--existing", "replace");
        Eventually.await("replaced", () -> there.lrange("b", 0, -1).equals(List.of("1")));
    }

    private ReconnectingClients servers() {
        return new ReconnectingClients(
                List.of(() -> Migrations.carrier(from.address()), () -> Migrations.carrier(to.address())),
                0,
                message -> {});
    }

    /**
     * A copied document must not count as another client's document after the target has rejected its replacement, or
     * after the replacement has changed while it was read.
     */
    @Test
    void replacedDocumentIsCopiedOnceTargetAcceptsIt() throws Exception {
        DocumentName name = DocumentName.of("a");
        try (ReconnectingClients servers = servers()) {
            DocumentSync sync = new DocumentSync(servers, Existing.REJECT, false, new RateLimitRetries(message -> {}));
            here.rpush("a", "1");
            servers.run(() -> sync.synchronize(name, servers.source().descriptionOf(name.toBytes()), false));
            here.del("a");
            here.rpush("a", "another");
            there.sendCommand(SPACE, "SET", "a", "max-value-bytes", "1");
            Output.Writing pass = () -> sync.synchronize(name, servers.source().descriptionOf(name.toBytes()), false);
            assertThatThrownBy(() -> servers.run(pass))
                    .isInstanceOf(RejectedException.class)
                    .hasMessageContaining("max-value-bytes");
            there.sendCommand(SPACE, "REMOVE", "a");
            servers.run(pass);
        }
        assertThat(there.lrange("a", 0, -1)).containsExactly("another");
    }

    /** A document that is about to expire is skipped; it must not make rounds follow each other without a pause. */
    @Test
    void documentThatIsAboutToExpireIsNotMissing() throws Exception {
        here.rpush("a", "1");
        here.pexpire("a", 1_900);
        try (ReconnectingClients servers = servers()) {
            DocumentFollower follower =
                    new DocumentFollower(servers, Existing.REJECT, false, null, new byte[0], message -> {});
            servers.run(follower::round);
            assertThat(follower.progress()).contains("the last round found 0 missing values");
        }
    }

    private void awaitLength(String name, long length) {
        Eventually.await(name, () -> there.llen(name) == length);
    }

    @Test
    void followEndsWhenDocumentIsMoved() throws Exception {
        here.rpush("a", "1");
        Run run = follow(to.address(), "a");
        awaitSame();
        here.sendCommand(MOVE, "a", "FENCE", "5", "third:1");
        here.sendCommand(MOVE, "a", "REDIRECT", "5");
        run.join();
        assertThat(run.run.exitCode()).isZero();
        assertThat(run.run.err()).contains("has been moved to third:1; the command stops following it");
        assertThat(there.lrange("a", 0, -1)).containsExactly("1");
        CommandRun absent = CommandRun.of(from, "copy", "--follow", "absent", "--to", to.address())
                .exits(3);
        CommandRun unreachable = CommandRun.of(from, "copy", "--follow", "absent", "--to", "127.0.0.1:1")
                .exits(1);
        assertThat(unreachable.err())
                .contains("no server listens at 127.0.0.1:1")
                .doesNotContain("trying again");
    }

    @Test
    void movesDocumentToTargetAndBack() {
        here.rpush("a", "1", "2", "3");
        here.sendCommand(TRIM, "a", "TO", "1");
        List<String> before = from.exported();
        CommandRun moved = move(from, to, "a");
        assertThat(moved.err()).isEmpty();
        assertThat(moved.out()).isEqualTo("moved 1 document to " + to.address() + "\n");
        assertThat(to.exported()).isEqualTo(before);
        elsewhere(here, "a", to);
        assertThat(move(from, to, "a", "--json").out()).isEqualTo("{\"moved\":0,\"already\":1,\"rejected\":0}\n");
        there.rpush("a", "4");

        move(to, from, "a").exits(0);
        assertThat(here.lrange("a", 0, -1)).containsExactly("2", "3", "4");
        elsewhere(there, "a", from);
        CommandRun removed = move(to, from, "a", "--forget");
        assertThat(removed.out()).isEqualTo("removed 1 redirect\n");
        assertThat(there.exists("a")).isFalse();
        move(to, from, "a", "--forget").exits(3);
        assertThat(move(to, from, "a").err()).contains("there is no document 'a'");
    }

    /** A move to the same server must be rejected. It would find two equal copies and then delete the document. */
    @Test
    void rejectsMoveToSameServer() {
        here.rpush("a", "1");
        move(from, from, "a").exits(3, "document 'a' is there already: both are the same server");
        assertThat(here.rpush("a", "2")).isEqualTo(2);
    }

    @Test
    void movesPrefixToTargetAndBack() {
        for (int i = 0; i < 30; i++) {
            here.rpush("d/" + i, "a" + i);
        }
        List<String> before = from.exported();
        move(from, to, "--prefix", "d/");
        move(to, from, "--prefix", "d/").succeeds();
        assertThat(from.exported()).isEqualTo(before);
        assertThat(there.keys("*")).isEmpty();
    }

    /** A returning document must stay hidden until the other copy is fenced, or clients could write to both copies. */
    @Test
    void returningDocumentIsHiddenBeforeFence() throws Exception {
        here.rpush("a", "1", "2");
        move(from, to, "a");
        there.rpush("a", "3");
        AtomicReference<String> found = new AtomicReference<>("");
        try (TrippedProxy source =
                new TrippedProxy(Integer.parseInt(to.address().split(":", 2)[1]))) {
            source.arm(new Trip("FENCE", false, () -> found.set(found("a"))));
            CommandRun.at(source.address(), "move", "a", "--to", from.address()).exits(0);
        }
        assertThat(found.get()).startsWith("RELOCATED ");
        assertThat(here.lrange("a", 0, -1)).containsExactly("1", "2", "3");
    }

    /** Returns the result of reading the document from the first server. */
    private String found(String name) {
        try (Jedis client = from.jedis()) {
            return "it has " + client.llen(name);
        } catch (JedisDataException rejected) {
            return rejected.getMessage();
        }
    }

    /** A move killed after the fence was set must resume, even if clients already use the document at the target. */
    @Test
    void moveResumesAfterKillBeforeLastStep() {
        here.rpush("a", "1", "2");
        there.rpush("a", "1", "2");
        here.sendCommand(MOVE, "a", "FENCE", "5", to.address());
        there.rpush("a", "3");
        move(from, to, "a").exits(0);
        assertThat(found("a")).startsWith("RELOCATED ");
        assertThat(there.lrange("a", 0, -1)).containsExactly("1", "2", "3");
    }

    /**
     * The server that a document has left must reject writes, even if a client changes the returned document while a
     * killed move back is being rerun. The change occurs after the run has compared both copies and before the run
     * takes over the fence. If the run removed the fence, both servers would accept writes.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void sourceRejectsWritesAfterReturnedDocumentChanges(boolean trimmed) throws Exception {
        here.rpush("a", "1", "2");
        move(from, to, "a").exits(0);
        there.sendCommand(MOVE, "a", "FENCE", "5", from.address());
        here.sendCommand(IMPORT, "a", "WHOLE", "0", "REDIRECT", "VALUES", "1", "2");
        CommandRun again;
        try (TrippedProxy source =
                new TrippedProxy(Integer.parseInt(to.address().split(":", 2)[1]))) {
            source.arm(new Trip("FENCE", false, () -> {
                if (trimmed) {
                    here.rpush("a", "3", "4");
                    here.sendCommand(TRIM, "a", "TO", "3");
                } else {
                    here.del("a");
                    here.rpush("a", "4");
                }
            }));
            again = CommandRun.at(source.address(), "move", "a", "--to", from.address());
        }
        String rejection = rejection(() -> there.rpush("a", "x"));
        if (trimmed) {
            again.exits(0);
            assertThat(rejection).startsWith("RELOCATED ");
        } else {
            again.exits(3, "it stays fenced");
            assertThat(rejection).startsWith("MOVING ");
        }
        assertThat(here.lrange("a", 0, -1)).containsExactly("4");
    }

    @Test
    void moveRemovesFencesAndRedirects() throws Exception {
        here.rpush("d/a b", "1", "2", "3");
        here.rpush("d/é", "1");
        List<String> before = from.exported();
        assertThat(move(from, to, "--prefix", "d/").out()).isEqualTo("moved 2 documents to " + to.address() + "\n");
        assertThat(to.exported()).isEqualTo(before);
        elsewhere(here, "d/é", to);
        here.rpush("d/c", "1");
        assertThat(move(from, to, "--prefix", "d/", "--abandon").out())
                .isEqualTo("removed the fences of 0 documents\n");
        move(from, to, "d/é", "--forget").exits(0);
        assertThat(here.exists("d/é")).isFalse();
    }

    private static void elsewhere(Jedis client, String name, ServedStore other) {
        assertThat(rejection(() -> client.rpush(name, "x"))).startsWith("RELOCATED " + other.address() + " ");
    }

    private static String rejection(Runnable request) {
        try {
            request.run();
            return "";
        } catch (JedisDataException rejected) {
            return rejected.getMessage();
        }
    }

    @Test
    void movesPrefixWithForksBeforeSources() throws Exception {
        for (int i = 0; i < 300; i++) {
            here.rpush("d/" + i, "a" + i);
        }
        here.rpush("other", "x");
        from.send("PUT", "d/source", "one", "Content-Type", "text/plain");
        from.send("PUT", "d/fork", "", "Stream-Forked-From", "/v1/stream/d/source");
        CommandRun moved = move(
                        from, to, "--prefix", "d/", "--redirect-to", "a.example:1", "--redirect-to", "http://b:2")
                .exits(0);
        assertThat(moved.out()).isEqualTo("moved 302 documents to a.example:1 (http://b:2)\n");
        assertThat(there.dbSize()).isEqualTo(302);
        assertThat(rejection(() -> here.llen("d/7"))).startsWith("RELOCATED a.example:1 ");
        assertThat(here.keys("*")).containsExactly("other");
    }

    /** A move must reject a target that shares no sequence with the source, because it may be a different document. */
    @ParameterizedTest
    @CsvSource({"0, 3", "3, 3", "3, 0", "2, 5", "0, 5"})
    void moveRejectsDifferentDocumentOfSameName(int trimmedHere, int trimmedThere) {
        here.rpush("a", "a", "b", "c");
        here.sendCommand(TRIM, "a", "TO", "" + trimmedHere);
        there.rpush("a", "v", "w", "x", "y", "z");
        there.sendCommand(TRIM, "a", "TO", "" + trimmedThere);
        List<String> before = here.lrange("a", 0, -1);
        List<String> beforeThere = there.lrange("a", 0, -1);
        move(from, to, "a").exits(3, "there is another one of this name");
        assertThat(here.lrange("a", 0, -1)).isEqualTo(before);
        assertThat(there.lrange("a", 0, -1)).isEqualTo(beforeThere);
        assertThat(here.rpush("a", "d")).isEqualTo(before.size() + 1);
    }

    /** A move must reject a target that ends with the source's first value, or it would lose earlier values. */
    @Test
    void moveRejectsTargetEndingInFirstSourceValue() {
        here.rpush("a", "1", "2", "same", "4");
        here.sendCommand(TRIM, "a", "TO", "2");
        there.rpush("a", "x", "y", "same");
        move(from, to, "a").exits(3);
        assertThat(here.lrange("a", 0, -1)).containsExactly("same", "4");
        assertThat(there.lrange("a", 0, -1)).containsExactly("x", "y", "same");
    }

    /** A move must resume a copy that differs only because the source has been appended to and trimmed since. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 4, 5})
    void moveResumesCopyAfterTrimAtSource(long trimmed) {
        here.rpush("a", "1", "2", "3");
        CommandRun.of(from, "copy", "a", "--to", to.address()).exits(0);
        here.rpush("a", "4", "5");
        here.sendCommand(TRIM, "a", "TO", "" + trimmed);
        List<String> before = from.exported();
        move(from, to, "a").exits(0);
        assertThat(to.exported()).isEqualTo(before);
    }

    /** A document that the target rejects must stay at the source, unfenced, so that clients can write to it. */
    @Test
    void failedMoveLeavesDocumentUnchanged() {
        here.rpush("a", "1", "2", "3");
        here.rpush("b", "1");
        here.rpush("c", "1");
        there.rpush("b", "foreign");
        there.sendCommand(SPACE, "SET", "a", "retain-values", "2");
        CommandRun moved =
                move(from, to, "--prefix", "").exits(3, "document 'a' is not what was sent", "document 'b' was not");
        assertThat(moved.out()).isEqualTo("moved 1 document to " + to.address() + "; 2 rejected\n");
        assertThat(here.rpush("a", "4")).isEqualTo(4);
        assertThat(here.rpush("b", "2")).isEqualTo(2);
        assertThat(there.lrange("b", 0, -1)).containsExactly("foreign");
        elsewhere(here, "c", to);
    }

    /** The fence must not stay, because no later run of the move would succeed either. */
    @Test
    void rejectedReturnLeavesDocumentUnfenced() {
        here.rpush("a", "1");
        move(from, to, "a").exits(0);
        there.rpush("a", "2", "3");
        here.sendCommand(SPACE, "SET", "a", "retain-values", "2");
        CommandRun moved = move(to, from, "a").exits(3, "its space retains fewer values");
        assertThat(moved.err()).doesNotContain("stays fenced");
        assertThat(there.rpush("a", "4")).isEqualTo(4);
        elsewhere(here, "a", to);
    }

    /**
     * A resumed move must not delete values that the target received and then lost because of its space.
     *
     * @param more the number of values that are copied after the loss; a step contains at most 4,096 values
     */
    @ParameterizedTest
    @ValueSource(ints = {1, 4097})
    void resumedMoveKeepsValuesThatTargetHasLost(int more) throws InterruptedException {
        there.sendCommand(SPACE, "SET", "a", "retain-bytes", "24000");
        here.rpush("a", "1".repeat(9_000), "2".repeat(9_000));
        Run run = follow(to.address(), "a");
        awaitNext(2);
        here.rpush("a", "3".repeat(9_000));
        awaitNext(3);
        here.rpush("a", Collections.nCopies(more, "4").toArray(String[]::new));
        awaitNext(3 + more);
        run.end();
        assertThat(there.llen("a")).isEqualTo(2 + more);
        // An earlier run of the move was killed.
        here.sendCommand(MOVE, "a", "FENCE", "5", to.address());
        move(from, to, "a").exits(3, "it stays fenced");
        assertThat(here.llen("a")).isEqualTo(3 + more);
    }

    /** Waits until the target has the values of document a before this sequence. */
    private void awaitNext(long next) {
        Eventually.await(
                "next " + next,
                () -> rejection(() -> there.sendCommand(READ, "a", "FROM", "" + next))
                        .isEmpty());
    }

    @Test
    void interruptedMoveCanBeRepeatedOrAbandoned() {
        here.rpush("a", "1");
        here.sendCommand(MOVE, "a", "FENCE", "5", to.address());
        assertThat(rejection(() -> here.rpush("a", "2"))).startsWith("MOVING ");
        assertThat(move(from, to, "a", "--redirect-to", "third:1").err()).contains("is being moved to " + to.address());
        assertThat(move(from, to, "--prefix", "a", "--abandon").out()).isEqualTo("removed the fence of 1 document\n");
        here.rpush("a", "2");
        here.sendCommand(MOVE, "a", "FENCE", "5", to.address());
        move(from, to, "a").exits(0);
        assertThat(there.lrange("a", 0, -1)).containsExactly("1", "2");
        for (String[] senseless : new String[][] {{}, {"a", "--prefix", "b"}, {"a", "--redirect-to", "nowhere"}}) {
            move(from, to, senseless).exits(2);
        }
    }

    /** A move must succeed even if an earlier import has left part of the document at the target. */
    @Test
    void moveSucceedsDespiteUnfinishedImport() {
        for (int i = 0; i < 40; i++) {
            here.rpush("a".getBytes(UTF_8), new byte[60_000]);
        }
        there.sendCommand(IMPORT, "a", "BEGIN", "0");
        move(from, to, "a").exits(0);
        assertThat(there.llen("a")).isEqualTo(40);
    }

    @Test
    void copyWaitsForSpaceRateLimit() {
        for (int i = 0; i < 6; i++) {
            here.rpush("d/" + i, "a");
        }
        for (int i = 0; i < 25; i++) {
            here.rpush("d/long".getBytes(UTF_8), new byte[60_000]);
        }
        there.sendCommand(SPACE, "SET", "d/", "writes-per-second", "5");
        // A transaction takes the writes of the next four seconds, so the first write of the copy is too early, no
        // matter how slow the machine is.
        String[] debt = IntStream.range(0, 25).mapToObj(i -> "d/debt/" + i).toArray(String[]::new);
        try (Transaction transaction = there.multi()) {
            Arrays.stream(debt).forEach(name -> transaction.rpush(name, "a"));
            transaction.exec();
        }
        there.del(debt);
        CommandRun copied = CommandRun.of(from, "copy", "--to", to.address()).exits(0);
        assertThat(copied.out()).startsWith("copied 7 documents");
        assertThat(copied.err()).contains("exceeds its rate").contains("waits for as long as");
        assertThat(to.exported()).isEqualTo(from.exported());
    }
}
