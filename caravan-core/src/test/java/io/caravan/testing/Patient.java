package io.caravan.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;

/** Runs each test on a thread of its own, so that a store that hangs fails its test and not the build. */
@Timeout(value = 10, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface Patient {}
