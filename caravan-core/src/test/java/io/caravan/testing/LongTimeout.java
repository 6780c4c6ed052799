package io.caravan.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;

/** Runs each test on its own thread, so that a store that hangs fails the test instead of the build. */
@Timeout(value = 10, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface LongTimeout {}
