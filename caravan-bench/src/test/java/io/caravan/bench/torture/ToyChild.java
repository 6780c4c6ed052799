package io.caravan.bench.torture;

import java.io.IOException;

/** Child processes with a {@link ToyStore}. The nested main class determines the fault. */
final class ToyChild {

    private ToyChild() {}

    private static void run(String[] arguments, ToyStore.Lie lie) throws IOException {
        TortureChild.run(arguments, config -> new ToyStore(config.directory(), lie));
    }

    /** Returns the main class for a fault. */
    static String mainClass(ToyStore.Lie lie) {
        return switch (lie) {
            case NONE -> Honest.class.getName();
            case ACKNOWLEDGES_EARLY -> AcknowledgesEarly.class.getName();
            case TEARS_BATCHES -> TearsBatches.class.getName();
            case FORGETS_TRIMS -> ForgetsTrims.class.getName();
            case CHANGES_BYTES -> ChangesBytes.class.getName();
            case FORGETS_DELETES -> ForgetsDeletes.class.getName();
            case APPENDS_TWICE -> AppendsTwice.class.getName();
        };
    }

    static final class Honest {
        public static void main(String[] arguments) throws IOException {
            run(arguments, ToyStore.Lie.NONE);
        }
    }

    static final class AcknowledgesEarly {
        public static void main(String[] arguments) throws IOException {
            run(arguments, ToyStore.Lie.ACKNOWLEDGES_EARLY);
        }
    }

    static final class TearsBatches {
        public static void main(String[] arguments) throws IOException {
            run(arguments, ToyStore.Lie.TEARS_BATCHES);
        }
    }

    static final class ForgetsTrims {
        public static void main(String[] arguments) throws IOException {
            run(arguments, ToyStore.Lie.FORGETS_TRIMS);
        }
    }

    static final class ChangesBytes {
        public static void main(String[] arguments) throws IOException {
            run(arguments, ToyStore.Lie.CHANGES_BYTES);
        }
    }

    static final class ForgetsDeletes {
        public static void main(String[] arguments) throws IOException {
            run(arguments, ToyStore.Lie.FORGETS_DELETES);
        }
    }

    static final class AppendsTwice {
        public static void main(String[] arguments) throws IOException {
            run(arguments, ToyStore.Lie.APPENDS_TWICE);
        }
    }
}
