package io.caravan.server.document;

import static io.caravan.server.document.Documents.name;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.catalog.DocumentName;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Tests writes that wait for another thread's write. A write that fails must not make the others wait forever. */
class ReservationsTest {
    private final List<String> ran = new ArrayList<>();
    private final StackOverflowError broken = new StackOverflowError("first");

    private void fail() {
        ran.add("failing");
        throw broken;
    }

    @Test
    void allDeferredWritesRunEvenIfOneThrows() {
        Reservations reservations = new Reservations();
        Set<DocumentName> names = Set.of(name("a"));
        reservations.reserve(names);
        assertThat(reservations.defer(names, () -> this::fail)).isTrue();
        assertThat(reservations.defer(names, () -> () -> ran.add("next"))).isTrue();

        assertThatThrownBy(() -> reservations.release(names)).isSameAs(broken);
        assertThat(ran).containsExactly("failing", "next");
        assertThat(reservations.defer(names, () -> () -> ran.add("late"))).isFalse();
    }

    /** Under contention, each deferred write may reserve its names again, and others are then deferred for them. */
    @Test
    void anyNumberOfDeferredWritesMayReserveInTurn() {
        Reservations reservations = new Reservations();
        Set<DocumentName> names = Set.of(name("a"));
        AtomicInteger left = new AtomicInteger(100_000);
        reservations.reserve(names);
        assertThat(reservations.defer(names, () -> () -> reserveInTurn(reservations, names, left)))
                .isTrue();

        reservations.release(names);
        assertThat(left).hasValue(0);
        assertThat(reservations.any).isFalse();
    }

    private static void reserveInTurn(Reservations reservations, Set<DocumentName> names, AtomicInteger left) {
        if (left.decrementAndGet() > 0) {
            reservations.reserve(names);
            reservations.defer(names, () -> () -> reserveInTurn(reservations, names, left));
            reservations.release(names);
        }
    }
}
