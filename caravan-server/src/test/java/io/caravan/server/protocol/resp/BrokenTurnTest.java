package io.caravan.server.protocol.resp;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.ListStore;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import io.caravan.server.app.ServerFixture;
import io.caravan.server.security.Authenticator;
import io.caravan.testing.ForwardingListStore;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Tests the handling of unexpected exceptions that occur while the event loop processes a request. */
class BrokenTurnTest extends RespTestBase {
    private static final class BrokenStore extends ForwardingListStore {
        private volatile boolean broken;

        BrokenStore() {
            super(ListStore.inMemory());
        }

        @Override
        public void write(WriteBatch batch, WriteCallback callback) {
            if (broken) {
                throw new AssertionError("broken by the test");
            }
            super.write(batch, callback);
        }
    }

    private final BrokenStore store = new BrokenStore();

    @Override
    RespFixture newFixture() throws IOException {
        return new RespFixture(store, Authenticator.open(), ServerFixture.MAX_REQUEST_BYTES, Duration.ofSeconds(30));
    }

    /** An unexpected error must close the connection. An earlier version kept it open. */
    @Test
    void closesConnectionOnUnexpectedError() throws Exception {
        try (RespClient other = fixture.connect()) {
            assertThat(other.call("PING")).isEqualTo("+PONG");
            fixture.store.takeSpace();
            client.send("RPUSH", "k", "v");
            fixture.store.awaitWaiter();
            store.broken = true;
            fixture.store.freeSpace();
            assertThat(client.atEnd()).isTrue();
            assertThat(other.call("PING")).isEqualTo("+PONG");
        }
    }
}
