package io.caravan;

import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.bytes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.caravan.testing.ForwardingListStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests which calls go to one shard and which go to all shards. */
class ShardedStoreTest {
    private final List<MoodyStore> shards =
            Stream.generate(MoodyStore::new).limit(3).toList();
    private final ShardedStore store = new ShardedStore(shards);

    /** A store that reports full log buffers, or fails when it is flushed or closed, at the test's request. */
    private static final class MoodyStore extends ForwardingListStore {
        final List<Runnable> waiting = new ArrayList<>();
        boolean noRoom;

        @Nullable
        StoreFailedException failure;

        boolean closed;

        MoodyStore() {
            super(ListStore.inMemory());
        }

        @Override
        public boolean writable() {
            return !noRoom;
        }

        @Override
        public void onWritable(Runnable action) {
            if (noRoom) {
                waiting.add(action);
            } else {
                action.run();
            }
        }

        void giveRoom() {
            noRoom = false;
            List<Runnable> all = List.copyOf(waiting);
            waiting.clear();
            all.forEach(Runnable::run);
        }

        @Override
        public void close() {
            closed = true;
            super.close();
            throwFailure();
        }

        @Override
        public void flush() {
            throwFailure();
        }

        private void throwFailure() {
            if (failure != null) {
                throw failure;
            }
        }
    }

    @Test
    void listIsInShardOfIdModuloShardCount() {
        for (long id = 1; id <= 7; id++) {
            await(store.append(id, bytes(5, (int) id)));
            await(store.append(id, bytes(6, (int) id)));
            await(store.trim(id, 1));
        }
        assertThat(shards.get(0).read(3)).hasSize(1);
        assertThat(shards.get(1).read(4)).hasSize(1);
        assertThat(shards.get(2).read(5)).hasSize(1);
        assertThat(store.read(5).get(0).value()).isEqualTo(bytes(6, 5));
        assertThat(shards.get(0).read(5)).isEmpty();
        await(store.delete(5));
        assertThat(shards.get(2).info(5)).isNull();
        assertThat(store.accepted(4)).isEqualTo(shards.get(1).accepted(4));
        assertThat(store.stats().lists()).isEqualTo(6);
        assertThat(store.stats().appends()).isEqualTo(14);
    }

    @Test
    void nonPositiveIdsAreInFirstShard() {
        await(store.append(0, bytes(1, 1)));
        await(store.append(-4, bytes(1, 1)));
        assertThat(shards.get(0).read(0)).hasSize(1);
        assertThat(shards.get(0).read(-4)).hasSize(1);
        assertThat(shards.get(1).read(0)).isEmpty();
        List<Long> ids = new ArrayList<>();
        await(store.append(2, bytes(1, 1)));
        store.forEachList(ids::add);
        assertThat(ids).containsExactlyInAnyOrder(0L, -4L, 2L);
    }

    @Test
    void batchIsLimitedToOneShard() {
        await(store.write(WriteBatch.create()
                .append(1, bytes(1, 1))
                .append(4, bytes(1, 1))
                .expect(7, 0)));
        assertThat(shards.get(1).read(4)).hasSize(1);
        await(store.write(WriteBatch.create()));
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        store.write(WriteBatch.create().append(1, bytes(1, 1)).append(2, bytes(1, 1))))
                .withMessageContaining("in one shard");
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        store.write(WriteBatch.create().append(1, bytes(1, 1)).expect(2, 0)));
        assertThat(store.read(1)).hasSize(1);
    }

    @Test
    void isWritableWhenAllShardsAre() {
        shards.get(0).noRoom = true;
        shards.get(2).noRoom = true;
        List<String> ran = new ArrayList<>();
        assertThat(store.writable()).isFalse();
        store.onWritable(() -> ran.add("now"));
        shards.get(2).giveRoom();
        assertThat(ran).isEmpty();
        shards.get(2).noRoom = true;
        shards.get(0).giveRoom();
        assertThat(ran).isEmpty();
        shards.get(2).giveRoom();
        assertThat(ran).containsExactly("now");
        assertThat(store.writable()).isTrue();
    }

    @Test
    void pendingActionRunsAfterShardIsClosed() {
        shards.get(0).noRoom = true;
        List<String> ran = new ArrayList<>();
        store.onWritable(() -> ran.add("closed"));
        shards.get(1).close();
        shards.get(0).giveRoom();
        assertThat(ran).containsExactly("closed");
    }

    @Test
    void runsActionOnceIfItThrowsStoreClosed() {
        List<String> ran = new ArrayList<>();
        assertThatExceptionOfType(StoreClosedException.class)
                .isThrownBy(() -> store.onWritable(() -> {
                    ran.add("now");
                    throw new StoreClosedException("the store");
                }));
        assertThat(ran).containsExactly("now");
    }

    private StoreFailedException fail(int shard) {
        StoreFailedException failure = new StoreFailedException("shard " + shard, new IOException("a broken disk"));
        shards.get(shard).failure = failure;
        return failure;
    }

    @Test
    void closesAllShardsAndReportsEachFailure() {
        StoreFailedException first = fail(0);
        StoreFailedException second = fail(1);
        StoreFailedException third = fail(2);
        assertThatExceptionOfType(StoreFailedException.class)
                .isThrownBy(store::close)
                .isSameAs(first);
        assertThat(first.getSuppressed()).containsExactly(second, third);
        assertThat(shards).allMatch(shard -> shard.closed);
    }

    /** Tests that an exception does not grow each time that a failed store throws it. */
    @Test
    void reportsEachFailureOnceIfCallIsRepeated() {
        StoreFailedException first = fail(0);
        StoreFailedException second = fail(1);
        for (int i = 0; i < 3; i++) {
            assertThatExceptionOfType(StoreFailedException.class)
                    .isThrownBy(store::flush)
                    .isSameAs(first);
        }
        assertThat(first.getSuppressed()).containsExactly(second);
    }
}
