package io.caravan.engine;

import static io.caravan.engine.FaultyStore.LOG;
import static io.caravan.testing.FaultStorage.on;
import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.texts;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.CaravanException;
import io.caravan.WriteCallback;
import io.caravan.testing.FaultStorage.Hold;
import io.caravan.testing.FaultStorage.Kind;
import io.caravan.testing.Patient;
import io.caravan.testing.Tellings;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Callbacks that throw do not change the calls, or the order, of the other callbacks. */
@Patient
class ThrowingCallbacksTest {

    static Stream<Supplier<Throwable>> throwables() {
        return Stream.of(
                () -> new IllegalStateException("on purpose"),
                () -> new AssertionError("on purpose"),
                () -> new NoClassDefFoundError("on purpose"));
    }

    /** Throws any exception, checked or not. */
    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void sneak(Throwable thrown) throws T {
        throw (T) thrown;
    }

    private static WriteCallback throwing(Supplier<Throwable> thrown) {
        return new WriteCallback() {
            @Override
            public void success(long sequence) {
                ThrowingCallbacksTest.<RuntimeException>sneak(thrown.get());
            }

            @Override
            public void failure(CaravanException problem) {
                ThrowingCallbacksTest.<RuntimeException>sneak(thrown.get());
            }
        };
    }

    @ParameterizedTest
    @MethodSource("throwables")
    void theOthersOfTheBatchAreToldAndTheStoreGoesOn(Supplier<Throwable> thrown) {
        try (FaultyStore store = FaultyStore.open()) {
            Tellings tellings = new Tellings();
            try (Hold force = store.faults.hold(on(Kind.FORCE, LOG))) {
                store.engine.append(1, bytes("a"), throwing(thrown));
                force.awaitReached();
                store.engine.append(1, bytes("b"), tellings.callback(1));
                store.engine.append(1, bytes("c"), throwing(thrown));
                store.engine.append(1, bytes("d"), tellings.callback(2));
            }
            assertThat(tellings.await(2))
                    .containsExactly(Tellings.Telling.success(1, 1), Tellings.Telling.success(2, 3));
            assertThat(append(store.engine, 1, "e")).isEqualTo(4);
            assertThat(texts(store.engine, 1)).containsExactly("0:a", "1:b", "2:c", "3:d", "4:e");
            assertThat(store.engine.stats().failures()).isZero();
        }
    }

    @Test
    void everybodyIsToldOfAFailureWhoeverThrows() {
        try (FaultyStore store = FaultyStore.open()) {
            Tellings tellings = new Tellings();
            store.faults.fail(on(Kind.FORCE, LOG));
            try (Hold write = store.faults.hold(on(Kind.WRITE, LOG))) {
                store.engine.append(1, bytes("a"), throwing(() -> new IllegalStateException("on purpose")));
                write.awaitReached();
                store.engine.append(1, bytes("b"), tellings.callback(1));
                store.engine.append(1, bytes("c"), throwing(() -> new AssertionError("on purpose")));
                store.engine.append(1, bytes("d"), tellings.callback(2));
            }
            assertThat(tellings.await(2)).extracting(Tellings.Telling::tag).containsExactly(1L, 2L);
            assertThat(tellings.all()).allMatch(telling -> telling.problem() != null);
        }
    }
}
