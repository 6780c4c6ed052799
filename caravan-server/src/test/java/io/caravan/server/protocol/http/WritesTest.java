package io.caravan.server.protocol.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.ListStore;
import io.caravan.NotWritableException;
import io.caravan.catalog.Catalog;
import io.caravan.catalog.DocumentName;
import io.caravan.server.backup.Backups;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.space.DocumentDurability;
import io.caravan.server.net.ConnectionMemory;
import io.caravan.server.net.Unbounded;
import io.netty.channel.embedded.EmbeddedChannel;
import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests writes over HTTP that wait for the store, fail, or share an fsync. */
class WritesTest {
    private static final long LIMIT = 1_000;
    private static final HttpConfig CONFIG = HttpConfig.of(new InetSocketAddress(0), 1, 1 << 20);

    private final ListStore memory = ListStore.inMemory();
    private final List<String> calls = new ArrayList<>();
    private final List<Runnable> onWritable = new ArrayList<>();
    private final Queue<Runnable> readers = new ArrayDeque<>();
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final ConnectionMemory connectionMemory = Unbounded.memory(channel, LIMIT);
    private final HttpProtocol protocol = HttpExchangeTest.protocol(CONFIG, readers::add);
    private boolean writable = true;
    private DocumentService documents;

    @BeforeEach
    void open() {
        ListStore store = (ListStore) Proxy.newProxyInstance(
                ListStore.class.getClassLoader(), new Class<?>[] {ListStore.class}, (proxy, method, arguments) -> {
                    switch (method.getName()) {
                        case "shards":
                            return List.of(proxy);
                        case "writable":
                            return writable;
                        case "onWritable":
                            onWritable.add((Runnable) arguments[0]);
                            return null;
                        case "group":
                            calls.add("group");
                            return (ListStore.WriteGroup) () -> calls.add("close");
                        default:
                            return method.invoke(memory, arguments);
                    }
                });
        documents = new DocumentService(store, Catalog.open(store, 0), DocumentDurability.SYNC);
        protocol.serve(new HttpProtocol.Services(documents, null, null, Backups.none(), Stream::empty, List.of()));
    }

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
        documents.close();
        memory.close();
    }

    private HttpExchange exchange() {
        return HttpExchangeTest.exchange(protocol, channel, connectionMemory);
    }

    private void read() {
        Objects.requireNonNull(readers.poll()).run();
    }

    @Test
    void failedWriteRespondsAndRethrowsError() {
        HttpExchange exchange = exchange();
        exchange.writeApart(List.of(), unused -> {
            throw new StackOverflowError();
        });
        assertThatThrownBy(this::read).isInstanceOf(StackOverflowError.class);
        channel.runPendingTasks();
        assertThat(exchange.status).isEqualTo(500);
    }

    @Test
    void writeDoesNotBlockThreadOnFullStore() {
        List<String> ran = new ArrayList<>();
        writable = false;
        exchange().writeApart(List.of(), unused -> ran.add("changed"));
        read();
        assertThat(ran).isEmpty();
        writable = true;
        onWritable.get(0).run();
        channel.runPendingTasks();
        read();
        assertThat(ran).containsExactly("changed");
    }

    @Test
    void repeatsWriteThatDoesNotFitUntilSpaceIsAvailable() {
        List<String> ran = new ArrayList<>();
        exchange().write(DocumentName.of("a"), unused -> {
            ran.add("tried");
            if (ran.size() == 1) {
                throw new NotWritableException("the store");
            }
        });
        assertThat(ran).hasSize(1);
        onWritable.get(0).run();
        channel.advanceTimeBy(1, TimeUnit.MILLISECONDS);
        channel.runPendingTasks();
        assertThat(ran).hasSize(2);
        assertThat(onWritable).hasSize(1);
    }

    @Test
    void readWaitsForReplyMemory() {
        List<String> ran = new ArrayList<>();
        connectionMemory.holdReply(LIMIT);
        exchange().read(() -> ran.add("read"));
        assertThat(readers).isEmpty();
        connectionMemory.holdReply(-LIMIT);
        channel.runPendingTasks();
        // Other replies fill the reply memory before the read starts.
        connectionMemory.holdReply(LIMIT);
        read();
        assertThat(ran).isEmpty();
        connectionMemory.holdReply(-LIMIT);
        channel.runPendingTasks();
        read();
        assertThat(ran).containsExactly("read");
    }

    @Test
    void writesOfOneEventLoopTurnShareWriteGroup() {
        exchange().write(DocumentName.of("a"), unused -> calls.add("first"));
        exchange().write(DocumentName.of("a"), unused -> calls.add("second"));
        channel.runPendingTasks();
        exchange().write(DocumentName.of("a"), unused -> calls.add("third"));
        channel.runPendingTasks();
        assertThat(calls).containsExactly("group", "first", "second", "close", "group", "third", "close");
    }
}
