package io.caravan.server.protocol.resp;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.EntryStream;
import io.caravan.ListStore;
import io.caravan.catalog.DocumentName;
import io.caravan.server.app.IgnoredOutcome;
import io.caravan.server.app.ServerFixture;
import io.caravan.server.app.TestDocuments;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.security.Authenticator;
import io.caravan.testing.ForwardingListStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class PopTest extends RespTestBase {
    private volatile Runnable afterRead = () -> {};

    @Override
    RespFixture newFixture() throws IOException {
        ListStore store = new ForwardingListStore(ListStore.inMemory()) {
            @Override
            public void get(long id, long fromSequence, EntryStream stream) {
                super.get(id, fromSequence, stream);
                afterRead.run();
            }
        };
        return new RespFixture(store, Authenticator.open(), ServerFixture.MAX_REQUEST_BYTES, Duration.ofSeconds(30));
    }

    @Test
    void popsOldestValues() throws IOException {
        client.call("RPUSH", "k", "a", "b", "c", "d", "e");
        replies("$a", "LPOP", "k");
        replies("[$b, $c]", "LPOP", "k", "2");
        replies("[]", "LPOP", "k", "0");
        replies("[$d, $e]", "LPOP", "k", "9");
        replies("null", "LPOP", "k");
        replies("nullarray", "LPOP", "k", "2");
        replies("nullarray", "LPOP", "absent", "0");
        fails("ERR value is out of range", "LPOP", "k", "-1");
        fails("ERR wrong number of arguments for 'lpop'", "LPOP", "k", "1", "2");
        assertThat(client.call("CARAVAN.INFO", "k")).contains("$first, :5, $next, :5, ");
    }

    /** A trim of shared values changes only the attributes of the fork, as does the end of the expiry. */
    @Test
    void removesSharedValuesOfExpiringForkOnce() throws IOException {
        client.call("RPUSH", "source", "a", "b", "c");
        List<List<String>> removals = List.of(
                List.of("LPOP", "fork", "2"), List.of("LTRIM", "fork", "1", "0"), List.of("BLPOP", "fork", "0"));
        for (List<String> removal : removals) {
            TestDocuments.fork(
                    fixture.documents, "source", "fork", removal.get(0).equals("BLPOP") ? 1 : 2);
            replies(":1", "EXPIRE", "fork", "1000");
            client.call(removal.toArray(String[]::new));
            replies(":0", "LLEN", "fork");
            replies("null", "LPOP", "fork");
            client.call("RPUSH", "fork", "d");
            replies(":-1", "TTL", "fork");
            replies("[$d]", "LRANGE", "fork", "0", "-1");
            replies(":1", "DEL", "fork");
        }
        replies("[$a, $b, $c]", "LRANGE", "source", "0", "-1");
    }

    @Test
    void popOverReplyLimitFailsAndRemovesNothing() throws IOException {
        String value = "v".repeat(ServerFixture.MAX_WORD_BYTES);
        for (int i = 0; i < 9; i++) {
            client.call("RPUSH", "k", value);
        }
        fails("ERR the values of the reply take more than 8388608 bytes; use a smaller count", "LPOP", "k", "9");
        replies(":9", "LLEN", "k");
        assertThat(client.call("LPOP", "k", "7")).hasSizeGreaterThan(7 * value.length());
    }

    @Test
    void waitingForStoreSpaceBlocksNoThread() throws Exception {
        client.call("RPUSH", "k", "a", "b", "c");
        fixture.store.takeSpace();
        RespClient[] poppers = {fixture.connect(), fixture.connect(), fixture.connect()};
        for (RespClient popper : poppers) {
            popper.send("LPOP", "k");
        }
        fixture.store.awaitWaiter();
        replies(":3", "LLEN", "k");
        fixture.store.freeSpace();
        for (RespClient popper : poppers) {
            assertThat(popper.read()).matches("\\$[abc]");
            popper.close();
        }
        replies(":0", "LLEN", "k");
    }

    /** A pop must complete even if another thread trims the oldest value after each of the pop's reads. */
    @Test
    void popCompletesDespiteConcurrentTrims() throws IOException {
        for (int i = 0; i < 100; i++) {
            client.call("RPUSH", "k", Integer.toString(i));
        }
        AtomicInteger reads = new AtomicInteger();
        afterRead = () -> {
            // Stops the trims after 50 reads, so that the test ends even if the pop never succeeds.
            if (reads.incrementAndGet() < 50) {
                fixture.documents.write(DocumentName.of("k"), PopTest::trimOldest, new IgnoredOutcome<>());
            }
        };
        assertThat(client.call("LPOP", "k")).startsWith("$");
        assertThat(reads.get()).isBetween(2, 10);
        becomes(":" + (99 - reads.get()), "LLEN", "k");
    }

    private static boolean trimOldest(EditedDocument document) {
        document.trimTo(Objects.requireNonNull(document.info()).firstSequence() + 1);
        return true;
    }

    @Test
    void pipelinedPopsAndPushesKeepOrder() throws IOException {
        client.send("RPUSH", "k", "a");
        client.send("LPOP", "k");
        client.send("RPUSH", "k", "b", "c");
        client.send("LPOP", "k", "5");
        client.send("LLEN", "k");
        client.reads(":1", "$a", ":2", "[$b, $c]", ":0");
    }

    /** Values that three clients pop, while others push and trim, must be in order and without duplicates. */
    @Test
    void concurrentPopsReturnDistinctValuesInOrder() throws Exception {
        AtomicBoolean pushing = new AtomicBoolean(true);
        List<CompletableFuture<List<Integer>>> takers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            takers.add(CompletableFuture.supplyAsync(() -> takeWhile(pushing)));
        }
        CompletableFuture<Void> trimmer = CompletableFuture.runAsync(() -> trimWhile(pushing));
        for (int i = 0; i < 3_000; i++) {
            client.call("RPUSH", "k", Integer.toString(i));
        }
        pushing.set(false);
        trimmer.join();
        List<Integer> all = new ArrayList<>();
        for (CompletableFuture<List<Integer>> taker : takers) {
            assertThat(taker.join()).isSorted();
            all.addAll(taker.join());
        }
        assertThat(all).doesNotHaveDuplicates().hasSizeGreaterThan(1_000);
    }

    private List<Integer> takeWhile(AtomicBoolean pushing) {
        List<Integer> taken = new ArrayList<>();
        try (RespClient taker = fixture.connect()) {
            while (pushing.get()) {
                Matcher value = Pattern.compile("\\$([0-9]+)").matcher(taker.call("LPOP", "k", "2"));
                while (value.find()) {
                    taken.add(Integer.parseInt(value.group(1)));
                }
            }
        } catch (IOException problem) {
            throw new UncheckedIOException(problem);
        }
        return taken;
    }

    private void trimWhile(AtomicBoolean pushing) {
        try (RespClient trimmer = fixture.connect()) {
            while (pushing.get()) {
                assertThat(trimmer.call("LTRIM", "k", "-20", "-1")).isEqualTo("+OK");
            }
        } catch (IOException problem) {
            throw new UncheckedIOException(problem);
        }
    }
}
