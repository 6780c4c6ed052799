package io.caravan.server.cli.document;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.catalog.Catalog;
import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.client.CommandRun;
import io.caravan.server.cli.client.ServedStore;
import io.caravan.server.document.AppendRequest;
import io.caravan.server.document.AppendRequest.Added;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.Outcome;
import io.caravan.server.document.space.DocumentDurability;
import io.caravan.testing.Eventually;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Transaction;

/** Tests the {@code tail} command: new values, lost connections, and the end of a document. */
@Timeout(120)
class TailCommandTest {
    @AutoClose
    private final ServedStore served = new ServedStore();

    private final CommandRun tail = CommandRun.with(Map.of(), new byte[0]);

    private CompletableFuture<CommandRun> tail(String... words) {
        return CompletableFuture.supplyAsync(() -> tail.run(served.address(), words));
    }

    private void append(String... values) {
        CommandRun.of(served, CommandRun.words(List.of("append", "d"), values)).exits(0);
    }

    @Test
    void printsExistingThenNewValues() {
        append("a", "b", "c");
        CompletableFuture<CommandRun> run = tail("tail", "d", "--from", "1", "--count", "4");
        Eventually.await("it is printed", () -> tail.out().equals("b\nc\n"));
        append("d");
        Eventually.await("it is printed", () -> tail.out().equals("b\nc\nd\n"));
        append("e", "f");
        run.join().exits(0);
        assertThat(tail.out()).isEqualTo("b\nc\nd\ne\n");
        assertThat(tail.err()).isEmpty();
    }

    @Test
    void waitsForMissingDocument() {
        CompletableFuture<CommandRun> run = tail("tail", "d", "--from", "0", "--count", "100", "--json");
        Eventually.await(
                "it says so",
                () -> tail.err()
                        .lines()
                        .toList()
                        .equals(List.of("caravan: there is no document 'd' yet; waiting until it is created")));
        append(IntStream.range(0, 100).mapToObj(Integer::toString).toArray(String[]::new));
        run.join().exits(0);
        assertThat(tail.out().lines())
                .hasSize(100)
                .startsWith("{\"sequence\":0,\"value\":\"0\"}")
                .endsWith("{\"sequence\":99,\"value\":\"99\"}");
    }

    @Test
    void startsAfterLastValueByDefault() throws Exception {
        append("old");
        CompletableFuture<CommandRun> run = tail("tail", "d", "--count", "1");
        // The test does not know which value is printed first, only that it is new.
        while (!run.isDone()) {
            append("new");
        }
        assertThat(run.get().out()).isEqualTo("new\n");
    }

    @Test
    void serverRestartLosesAndRepeatsNoValue() throws IOException {
        append("a", "b");
        CompletableFuture<CommandRun> run = tail("tail", "d", "--from", "0", "--count", "6");
        Eventually.await("it is printed", () -> tail.out().equals("a\nb\n"));
        served.stop();
        Eventually.await("it is printed", () -> tail.err().contains("trying again"));
        served.start();
        append("c", "d");
        Eventually.await("it is printed", () -> tail.out().equals("a\nb\nc\nd\n"));
        served.stop();
        served.start();
        append("e", "f");
        run.join().exits(0);
        assertThat(tail.out()).isEqualTo("a\nb\nc\nd\ne\nf\n");
        assertThat(tail.err()).contains("connected again, continuing with sequence 2");
    }

    @Test
    void failsWithoutInitialConnection() {
        served.stop();
        CommandRun run = tail("tail", "d").join().exits(1);
        assertThat(run.err())
                .contains("no server listens at " + served.address())
                .hasLineCount(1);
    }

    @Test
    void endsWhenDocumentIsClosed() throws IOException {
        append("a", "b");
        served.stop();
        try (DocumentService documents = new DocumentService(
                served.store, Catalog.open(served.store, DocumentService.CATALOG_LIST_ID), DocumentDurability.SYNC)) {
            close(documents);
        }
        served.start();
        CommandRun run = tail("tail", "d", "--from", "0").join().exits(0, "the document is closed");
        assertThat(run.out()).isEqualTo("a\nb\n");
    }

    private static void close(DocumentService documents) {
        DocumentName name = DocumentName.of("d");
        AppendRequest closing = new AppendRequest(name, List.of(), true, null, null, null, OptionalLong.empty());
        Outcome.<Added>await(outcome -> documents.write(List.of(name), closing, outcome));
    }

    @Test
    void endsWhenDocumentIsDeleted() {
        append("a", "b");
        CompletableFuture<CommandRun> run = tail("tail", "d", "--from", "0");
        Eventually.await("it is printed", () -> tail.out().equals("a\nb\n"));
        CommandRun.of(served, "rm", "d").exits(0);
        run.join().exits(3);
        assertThat(tail.err()).contains("the document was deleted");
    }

    /** The command must end when the document is replaced while the command is either waiting or disconnected. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void endsWhenDocumentIsReplaced(boolean whileAway) throws IOException {
        append("a", "b");
        CompletableFuture<CommandRun> run = tail("tail", "d", "--from", "0");
        Eventually.await("it is printed", () -> tail.out().equals("a\nb\n"));
        if (whileAway) {
            served.stop();
            Eventually.await("it is printed", () -> tail.err().contains("trying again"));
            try (DocumentService documents = new DocumentService(
                    served.store,
                    Catalog.open(served.store, DocumentService.CATALOG_LIST_ID),
                    DocumentDurability.SYNC)) {
                replace(documents);
            }
            served.start();
        } else {
            replaceAtOnce();
        }
        run.join().exits(3);
        assertThat(tail.out()).isEqualTo("a\nb\n");
        assertThat(tail.err()).contains("the document was deleted");
    }

    private static void replace(DocumentService documents) {
        Outcome.<Long>await(outcome -> documents.write(
                DocumentName.of("d"),
                document -> {
                    document.delete();
                    document.append(List.of(bytes("x"), bytes("y"), bytes("z")));
                    return 0L;
                },
                outcome));
    }

    private void replaceAtOnce() {
        HostAndPort address = HostAndPort.from(served.address());
        try (Jedis client = new Jedis(address)) {
            Transaction transaction = client.multi();
            transaction.del("d");
            transaction.rpush("d", "x", "y", "z");
            assertThat(transaction.exec()).hasSize(2);
        }
    }

    private static byte[] bytes(String value) {
        return value.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void failsIfStartSequenceIsTrimmed() {
        append("a", "b", "c");
        CommandRun.of(served, "trim", "d", "--to", "2");
        CommandRun run = tail("tail", "d", "--from", "1").join().exits(3, "the first retained one is 2");
        assertThat(run.out()).isEmpty();
    }
}
