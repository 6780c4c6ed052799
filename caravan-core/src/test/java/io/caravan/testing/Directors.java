package io.caravan.testing;

import io.caravan.testing.CrashStorage.Call;
import io.caravan.testing.CrashStorage.Director;
import io.caravan.testing.CrashStorage.Outcome;
import io.caravan.testing.FaultStorage.Kind;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/** Common directors for a {@link CrashStorage}. */
public final class Directors {

    private Directors() {}

    /**
     * Matches calls of this kind on files whose name matches the regular expression, except for the second call of a
     * creation.
     */
    public static Predicate<Call> calls(Kind kind, String names) {
        Pattern pattern = Pattern.compile(names);
        return call -> call.kind() == kind
                && !call.halfMade()
                && pattern.matcher(call.file()).matches();
    }

    /** Returns a director that gives the matching calls, and no others, this outcome. */
    public static Director on(Predicate<Call> calls, Outcome outcome) {
        return call -> calls.test(call) ? outcome : Outcome.PASS;
    }

    /** Returns a director that gives the n-th matching call, counted from 1, this outcome. */
    public static Director nth(int n, Predicate<Call> calls, Outcome outcome) {
        AtomicInteger count = new AtomicInteger();
        return on(call -> calls.test(call) && count.incrementAndGet() == n, outcome);
    }

    /**
     * Returns a director for a disk that, while {@code full} holds, has space only for files created before the n-th
     * one.
     */
    public static Director fullFromCreate(int n, BooleanSupplier full) {
        AtomicInteger created = new AtomicInteger();
        return call -> {
            boolean creates = call.kind() == Kind.CREATE && !call.halfMade();
            boolean reached = (creates ? created.incrementAndGet() : created.get()) >= n;
            return reached && call.grows() && full.getAsBoolean() ? Outcome.NO_SPACE : Outcome.PASS;
        };
    }
}
