// operator new of a test's program: it fails when the test says so.
#ifndef WEIR_TESTS_FAILING_NEW_H_
#define WEIR_TESTS_FAILING_NEW_H_

namespace weir {

// As long as it lives, this thread is given `left` more blocks, then none.
class FailingNew {
 public:
  explicit FailingNew(int left);
  ~FailingNew();
  FailingNew(const FailingNew&) = delete;
  FailingNew& operator=(const FailingNew&) = delete;
};

}  // namespace weir

#endif  // WEIR_TESTS_FAILING_NEW_H_
