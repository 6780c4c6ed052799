package io.caravan.server.protocol.resp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.caravan.catalog.DocumentName;
import io.caravan.server.protocol.resp.BlockingPop.PopQueues;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PopQueuesTest {
    @Test
    void limitsQueuePositionsAndReleasesThem() {
        PopQueues queues = new PopQueues();
        List<DocumentName> names = IntStream.range(0, PopQueues.MAX_PLACES)
                .mapToObj(i -> DocumentName.of("n" + i))
                .toList();
        Runnable all = () -> {};
        Runnable another = () -> {};
        queues.join(names, all);
        List<DocumentName> one = List.of(DocumentName.of("n0"));
        assertThatExceptionOfType(CommandException.class)
                .isThrownBy(() -> queues.join(one, another))
                .withMessageStartingWith("ERR clients wait for 65536 names");
        queues.leave(names, all);
        assertThat(queues.places()).isZero();
        queues.join(one, another);
        assertThat(queues.first(one, another)).isEqualTo(one);
    }

    /** A waiter that leaves its queues must wake the next waiter only once, because each wakeup checks all names. */
    @Test
    void wakesNextWaiterOfSeveralNamesOnce() {
        PopQueues queues = new PopQueues();
        List<DocumentName> names = List.of(DocumentName.of("a"), DocumentName.of("b"), DocumentName.of("c"));
        AtomicInteger woken = new AtomicInteger();
        Runnable first = () -> {};
        queues.join(names, first);
        queues.join(names, woken::incrementAndGet);
        queues.leave(names, first);
        assertThat(woken.get()).isOne();
    }
}
