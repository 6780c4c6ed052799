package io.caravan.bench.torture;

import io.caravan.VerifyReport;
import java.nio.file.Path;

/** Verifies a store that is not open anywhere. */
@FunctionalInterface
interface StoreVerifier {
    VerifyReport verify(Path directory);
}
