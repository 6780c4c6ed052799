package io.caravan.testing;

import io.caravan.testing.CrashStorage.Call;
import io.caravan.testing.CrashStorage.Director;
import io.caravan.testing.CrashStorage.Outcome;
import io.caravan.testing.FaultStorage.Kind;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/** What one often wants a {@link CrashStorage} to do. */
public final class Directors {

    private Directors() {}

    /** Calls of one kind, on files whose whole name the regular expression matches; not a creation's second call. */
    public static Predicate<Call> calls(Kind kind, String names) {
        Pattern pattern = Pattern.compile(names);
        return call -> call.kind() == kind
                && !call.halfMade()
                && pattern.matcher(call.file()).matches();
    }

    /** Lets these calls, and no others, come to this. */
    public static Director on(Predicate<Call> calls, Outcome outcome) {
        return call -> calls.test(call) ? outcome : Outcome.PASS;
    }

    /** Lets the n-th of these calls, the first being 1, come to this. */
    public static Director nth(int n, Predicate<Call> calls, Outcome outcome) {
        AtomicInteger count = new AtomicInteger();
        return on(call -> calls.test(call) && count.incrementAndGet() == n, outcome);
    }

    /** A disk with space for the files made before the n-th, the first being 1, and for nothing more while it is full. */
    public static Director fullFromCreate(int n, BooleanSupplier full) {
        AtomicInteger created = new AtomicInteger();
        return call -> {
            boolean creates = call.kind() == Kind.CREATE && !call.halfMade();
            boolean reached = (creates ? created.incrementAndGet() : created.get()) >= n;
            return reached && call.grows() && full.getAsBoolean() ? Outcome.NO_SPACE : Outcome.PASS;
        };
    }
}
